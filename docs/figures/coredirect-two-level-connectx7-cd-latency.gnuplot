set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allreduce of one f64, flat and in two levels of 8 ranks, connectx7-cd, simulated' noenhanced
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
16 5.260
32 6.680
64 7.520
128 8.940
256 9.780
512 11.200
1024 12.040
2048 13.460
4096 14.300
EOD
$d2 << EOD
16 2.560
32 3.330
64 4.090
128 4.850
256 5.610
512 6.370
1024 7.130
2048 7.890
4096 8.650
EOD
$d3 << EOD
16 5.340
32 6.060
64 6.780
128 7.500
256 8.220
512 8.940
1024 9.660
2048 10.380
4096 11.100
EOD
$d4 << EOD
16 3.630
32 5.050
64 6.470
128 7.890
256 9.310
512 10.730
1024 12.150
2048 13.570
4096 14.990
EOD
$d5 << EOD
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
$d6 << EOD
16 3.630
32 3.750
64 5.130
128 6.550
256 6.710
512 8.090
1024 9.450
2048 9.670
4096 11.050
EOD
$d7 << EOD
16 6.360
32 6.770
64 8.600
128 10.740
256 11.050
512 13.490
1024 15.830
2048 16.330
4096 19.170
EOD
$d8 << EOD
16 3.630
32 3.750
64 5.170
128 5.290
256 6.710
512 6.830
1024 8.250
2048 8.370
4096 9.790
EOD
$d9 << EOD
16 6.360
32 6.770
64 8.810
128 9.210
256 11.550
512 11.950
1024 14.590
2048 15.000
4096 17.940
EOD
$d10 << EOD
16 3.630
32 4.470
64 5.890
128 6.730
256 8.150
512 8.990
1024 10.410
2048 11.250
4096 12.670
EOD
$d11 << EOD
16 6.360
32 7.280
64 9.320
128 10.240
256 12.580
512 13.500
1024 16.140
2048 17.060
4096 20.000
EOD
set terminal pngcairo noenhanced size 1000,680
set output 'coredirect-two-level-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'flat, recursive doubling', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'flat, reduce-bcast, degrees 2 and 4', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'recursive doubling', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d9 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'reduce-bcast, degrees 2 and 4', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'reduce-bcast, degrees 2 and 4, by hosts'
set terminal svg noenhanced size 1000,680
set output 'coredirect-two-level-connectx7-cd-latency.svg'
replot
unset output
