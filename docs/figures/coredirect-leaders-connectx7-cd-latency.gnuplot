set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allgather of one f64, flat and with leaders of 8 ranks, connectx7-cd, simulated' noenhanced
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
16 2.660
32 3.420
64 4.220
128 5.110
256 6.150
512 7.530
1024 9.560
2048 12.900
4096 18.870
EOD
$d5 << EOD
16 5.510
32 6.340
64 7.180
128 8.040
256 8.940
512 9.930
1024 11.350
2048 13.410
4096 16.630
EOD
$d6 << EOD
16 2.660
32 3.420
64 4.220
128 5.110
256 6.150
512 7.530
1024 9.560
2048 12.900
4096 18.870
EOD
$d7 << EOD
16 5.510
32 6.340
64 7.180
128 8.040
256 8.940
512 9.930
1024 11.350
2048 13.410
4096 16.630
EOD
$d8 << EOD
32 2.940
128 4.130
512 6.040
2048 10.850
EOD
$d9 << EOD
32 5.920
128 7.190
512 8.890
2048 11.920
EOD
$d10 << EOD
32 2.940
128 4.130
512 6.040
2048 10.760
EOD
$d11 << EOD
16 2.970
32 5.120
64 9.430
128 18.040
256 35.270
512 69.720
1024 138.630
2048 276.440
EOD
$d12 << EOD
16 5.730
32 9.020
64 15.590
128 28.740
256 55.040
512 107.650
1024 212.920
2048 423.490
EOD
$d13 << EOD
16 2.240
32 3.580
64 6.260
128 11.620
256 22.350
512 43.800
1024 86.690
2048 172.480
EOD
$d14 << EOD
16 5.830
32 7.370
64 10.670
128 17.250
256 30.420
512 56.770
1024 109.450
2048 214.950
EOD
set terminal pngcairo noenhanced size 1000,740
set output 'coredirect-leaders-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'ring of leaders', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'ring of leaders, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'leaders by Bruck', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'leaders by Bruck, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'leaders by standard exchange', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'leaders by standard exchange, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3', $d9 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'leaders by standard exchange, k = 3, by hosts', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3, 3 ports', $d11 with linespoints linecolor 8 dashtype 1 pointtype 5 title '2 leaders a node', $d12 with linespoints linecolor 8 dashtype 2 pointtype 7 title '2 leaders a node, by hosts', $d13 with linespoints linecolor 9 dashtype 1 pointtype 5 title '2 groups a node', $d14 with linespoints linecolor 9 dashtype 2 pointtype 7 title '2 groups a node, by hosts'
set terminal svg noenhanced size 1000,740
set output 'coredirect-leaders-connectx7-cd-latency.svg'
replot
unset output
