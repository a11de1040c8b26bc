// SPDX-License-Identifier: BSD-3-Clause
// Operators, right and wrong.
#include <cmath>

double largest(double a, double b) {
  return std::fabs(a) < std::fabs(b) ? b : a;
}

struct Point {
  float x, y;
  int n;
  Point(float a, float b, int c) : x(a), y(b), n(c) {}
};
static Point middle(const Point &a, const Point &b) {
  return {a.x + b.x, a.y + b.y, a.n + b.n};
}

double powers(double a, double b) {
  return std::pow(a, b);
}
static int calls;
double counted(double a, double b) {
  ++calls;
  return a + b;
}
void combine(void *, void *, int *, int *) {}
char *joined(char *a, char *b) {
  return a < b ? a : b;
}
template <class T>
T sum(T a, T b) {
  return a + b;
}
