set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allreduce of one f64, connectx2, simulated' noenhanced
set logscale y
$d0 << EOD
16 17.340
32 21.550
64 25.760
128 29.970
256 34.180
512 38.390
1024 42.600
2048 46.810
4096 51.020
EOD
$d1 << EOD
16 7.210
32 9.010
64 10.810
128 12.620
256 14.420
512 16.220
1024 18.020
2048 19.830
4096 21.630
EOD
$d2 << EOD
16 23.660
32 28.970
64 34.290
128 39.600
256 44.920
512 50.230
1024 55.550
2048 60.860
4096 66.180
EOD
$d3 << EOD
16 16.220
32 21.020
64 26.130
128 31.530
256 37.240
512 43.240
1024 49.550
2048 56.150
4096 63.060
EOD
$d4 << EOD
16 21.550
32 25.960
64 30.680
128 33.890
256 40.400
512 45.120
1024 47.620
2048 52.340
4096 57.650
EOD
$d5 << EOD
16 13.520
32 14.420
64 20.130
128 25.530
256 27.030
512 33.940
1024 34.840
2048 41.750
4096 49.550
EOD
$d6 << EOD
16 20.740
32 26.150
64 29.960
128 35.370
256 39.180
512 44.590
1024 48.400
2048 53.810
4096 57.620
EOD
$d7 << EOD
16 10.520
32 15.920
64 17.130
128 23.430
256 24.640
512 31.840
1024 33.040
2048 41.150
4096 42.350
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-allreduce-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'recursive doubling', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts'
set terminal svg noenhanced size 1000,600
set output 'coredirect-allreduce-connectx2-latency.svg'
replot
unset output
