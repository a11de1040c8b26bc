// SPDX-License-Identifier: BSD-3-Clause
// stand_in.c - a library in place of libibverbs and libmlx5: an adapter that answers commands.
//
// STAND_IN says what it is: none, no-kernel, rxe, denied, old, refuses; or bits of what it can, as
// `cq_oi,cd,wait_on_data`. A command that is not QUERY_HCA_CAP to the last bit ends the program.
// The answer is written by a table of its own: bytes and masks.

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_device device = {.name = "mlx5_0"};
static struct ibv_device *only[] = {&device, NULL}, *none[] = {NULL};
static struct ibv_context context;

static const char *self(void) {
  const char *is = getenv("STAND_IN");
  return is ? is : "none";
}
static int is(const char *what) {
  return strcmp(self(), what) == 0;
}

struct ibv_device **ibv_get_device_list(int *count) {
  *count = !is("none");
  if (is("no-kernel")) {
    errno = ENOSYS;
    return NULL;
  }
  return is("none") ? none : only;
}
void ibv_free_device_list(struct ibv_device **list) {
  (void)list;
}
const char *ibv_get_device_name(struct ibv_device *d) {
  return is("rxe") ? "rxe0" : d->name;
}
bool mlx5dv_is_supported(struct ibv_device *d) {
  (void)d;
  return !is("rxe");
}
struct ibv_context *mlx5dv_open_device(struct ibv_device *d, struct mlx5dv_context_attr *attr) {
  (void)d;
  if (attr->flags != MLX5DV_CONTEXT_FLAGS_DEVX || attr->comp_mask) abort();
  errno = is("denied") ? EPERM : is("closed") ? EACCES : is("old") ? EOPNOTSUPP : 0;
  return errno ? NULL : &context;
}
int ibv_close_device(struct ibv_context *c) {
  if (c != &context) abort();
  return 0;
}

int mlx5dv_devx_general_cmd(struct ibv_context *c, const void *in, size_t inlen, void *out,
                            size_t outlen) {
  static const uint8_t query[16] = {0x01, 0x00, 0, 0, 0, 0, 0x00, 0x01};
  if (c != &context || inlen != sizeof query || memcmp(in, query, sizeof query) || outlen != 4112) {
    fprintf(stderr, "stand-in: another command of %zu bytes, or room for %zu\n", inlen, outlen);
    abort();
  }
  uint8_t *answer = (uint8_t *)out, *capability = answer + 16;
  memset(answer, 0, outlen);
  if (is("refuses")) {
    answer[0] = 0x02;
    memcpy(answer + 4, "\x00\x12\x34\x56", 4);
    return EREMOTEIO;
  }
  // Around each field all bits are set, so that one that is read a bit beside its place shows.
  static const struct {
    const char *name;
    uint16_t byte;
    uint8_t mask;
  } bits[] = {{"cq_oi", 0x44, 0x80}, {"cd", 0x45, 0x08}, {"wait_on_data", 0xd1, 0x10}};
  for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
    capability[bits[i].byte] |= (uint8_t)~bits[i].mask;
  for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
    if (strstr(self(), bits[i].name))
      capability[bits[i].byte] |= bits[i].mask;
    else
      capability[bits[i].byte] &= (uint8_t)~bits[i].mask;
  memset(capability + 0x10, 0xff, 4);
  capability[0x11] = 14;  // log_max_qp_sz
  memset(capability + 0x18, 0xff, 4);
  capability[0x19] = 22;  // log_max_cq_sz
  memset(capability + 0x50, 0xff, 8);
  memcpy(capability + 0x52, "\x02\x00", 2);  // max_wqe_sz_sq: 512
  memcpy(capability + 0x56, "\x01\xf0", 2);  // max_wqe_sz_rq: 496
  return 0;
}
