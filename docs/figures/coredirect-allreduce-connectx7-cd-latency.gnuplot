set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allreduce of one f64, connectx7-cd, simulated' noenhanced
set logscale y
$d0 << EOD
16 3.880
32 4.700
64 5.520
128 6.340
256 7.160
512 7.980
1024 8.800
2048 9.620
4096 10.440
EOD
$d1 << EOD
16 2.880
32 3.600
64 4.320
128 5.040
256 5.760
512 6.480
1024 7.200
2048 7.920
4096 8.640
EOD
$d2 << EOD
16 6.460
32 7.880
64 9.300
128 10.720
256 12.140
512 13.560
1024 14.980
2048 16.400
4096 17.820
EOD
$d3 << EOD
16 6.360
32 8.200
64 10.140
128 12.180
256 14.320
512 16.560
1024 18.900
2048 21.340
4096 23.880
EOD
$d4 << EOD
16 5.100
32 5.260
64 6.640
128 8.000
256 8.220
512 9.600
1024 9.700
2048 11.080
4096 12.500
EOD
$d5 << EOD
16 5.220
32 5.530
64 7.670
128 9.710
256 10.210
512 12.750
1024 13.060
2048 15.590
4096 18.430
EOD
$d6 << EOD
16 3.860
32 5.280
64 5.400
128 6.820
256 6.940
512 8.360
1024 8.480
2048 9.900
4096 10.020
EOD
$d7 << EOD
16 3.990
32 6.030
64 6.430
128 8.770
256 9.180
512 11.820
1024 12.220
2048 15.160
4096 15.570
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-allreduce-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'recursive doubling', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts'
set terminal svg noenhanced size 1000,600
set output 'coredirect-allreduce-connectx7-cd-latency.svg'
replot
unset output
