set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allreduce of one f64, flat and in two levels of 8 ranks, connectx2, simulated' noenhanced
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
16 21.050
32 26.360
64 30.570
128 35.890
256 40.100
512 45.410
1024 49.620
2048 54.940
4096 59.150
EOD
$d2 << EOD
16 5.920
32 9.820
64 14.030
128 18.240
256 22.450
512 26.660
1024 30.870
2048 35.080
4096 39.290
EOD
$d3 << EOD
16 13.520
32 15.320
64 17.120
128 18.920
256 20.730
512 22.530
1024 24.330
2048 26.130
4096 27.940
EOD
$d4 << EOD
16 8.120
32 13.640
64 18.950
128 24.270
256 29.580
512 34.890
1024 40.210
2048 45.520
4096 50.840
EOD
$d5 << EOD
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
$d6 << EOD
16 8.120
32 12.130
64 17.140
128 22.260
256 26.770
512 31.480
1024 34.690
2048 41.210
4096 45.920
EOD
$d7 << EOD
16 16.220
32 17.420
64 22.230
128 27.930
256 28.840
512 35.440
1024 41.740
2048 43.250
4096 51.050
EOD
$d8 << EOD
16 8.120
32 11.930
64 17.450
128 21.260
256 26.460
512 30.270
1024 35.680
2048 39.490
4096 44.900
EOD
$d9 << EOD
16 16.220
32 17.420
64 22.830
128 24.030
256 30.340
512 31.540
1024 38.750
2048 39.950
4096 48.060
EOD
$d10 << EOD
16 8.120
32 12.330
64 17.450
128 21.660
256 26.970
512 31.180
1024 36.490
2048 40.700
4096 46.020
EOD
$d11 << EOD
16 16.220
32 18.620
64 24.030
128 26.430
256 32.730
512 35.140
1024 42.340
2048 44.740
4096 52.850
EOD
set terminal pngcairo noenhanced size 1000,680
set output 'coredirect-two-level-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'flat, recursive doubling', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'flat, reduce-bcast, degrees 2 and 4', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'recursive doubling', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d9 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'reduce-bcast, degrees 2 and 4', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'reduce-bcast, degrees 2 and 4, by hosts'
set terminal svg noenhanced size 1000,680
set output 'coredirect-two-level-connectx2-latency.svg'
replot
unset output
