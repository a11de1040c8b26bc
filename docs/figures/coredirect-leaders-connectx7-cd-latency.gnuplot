set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'flat, and with leaders: one f64, connectx7-cd, simulated' noenhanced
set logscale y
$d0 << EOD
16 3.580
32 4.300
64 5.030
128 5.760
256 6.500
512 7.260
1024 8.060
2048 8.950
4096 10.000
EOD
$d1 << EOD
16 10.660
32 21.220
64 42.350
128 84.600
256 169.100
512 338.100
1024 676.100
EOD
$d2 << EOD
16 2.660
32 4.020
64 6.740
128 12.190
256 23.070
512 44.850
1024 88.400
2048 175.500
4096 349.710
EOD
$d3 << EOD
16 5.510
32 7.160
64 10.260
128 16.540
256 29.740
512 53.120
1024 99.880
2048 193.500
4096 380.750
EOD
$d4 << EOD
16 2.970
32 5.120
64 9.430
128 18.040
256 35.270
512 69.720
1024 138.630
2048 276.440
EOD
$d5 << EOD
16 5.730
32 9.020
64 15.590
128 28.740
256 55.040
512 107.650
1024 212.920
2048 423.490
EOD
$d6 << EOD
16 2.240
32 3.580
64 6.260
128 11.620
256 22.350
512 43.800
1024 86.690
2048 172.480
EOD
$d7 << EOD
16 5.830
32 7.370
64 10.670
128 17.250
256 30.420
512 56.770
1024 109.450
2048 214.950
EOD
$d8 << EOD
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
$d9 << EOD
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
$d10 << EOD
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
$d11 << EOD
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
set terminal pngcairo noenhanced size 1000,680
set output 'coredirect-leaders-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'allgather, Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'allgather, ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'allgather, ring of leaders, 8 a node', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'allgather, ring of leaders, 8 a node, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'allgather, 2 leaders, 8 a node', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'allgather, 2 leaders, 8 a node, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'allgather, 2 groups, 8 a node', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'allgather, 2 groups, 8 a node, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'allreduce, recursive doubling', $d9 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'allreduce, reduce-bcast, degrees 2 and 4', $d10 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'allreduce, two-level, 8 a node', $d11 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'allreduce, two-level, 8 a node, by hosts'
set terminal svg noenhanced size 1000,680
set output 'coredirect-leaders-connectx7-cd-latency.svg'
replot
unset output
