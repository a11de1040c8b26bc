set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allgather of one f64, flat and with leaders of 8 ranks, connectx2, simulated' noenhanced
set logscale y
$d0 << EOD
16 11.640
32 14.180
64 16.660
128 19.510
256 22.530
512 25.870
1024 29.840
2048 35.080
4096 42.860
EOD
$d1 << EOD
16 30.740
32 61.180
64 122.060
128 243.810
256 487.330
512 974.370
1024 1948.440
EOD
$d2 << EOD
16 6.220
32 10.060
64 17.740
128 33.100
256 64.030
512 126.080
1024 250.180
2048 498.380
4096 994.770
EOD
$d3 << EOD
16 14.350
32 18.410
64 26.210
128 43.690
256 78.600
512 141.240
1024 265.490
2048 513.990
4096 1010.980
EOD
$d4 << EOD
16 6.220
32 8.760
64 11.240
128 14.100
256 17.120
512 20.780
1024 25.780
2048 33.280
4096 45.770
EOD
$d5 << EOD
16 14.350
32 16.610
64 19.030
128 21.810
256 26.140
512 32.970
1024 44.260
2048 64.440
4096 102.390
EOD
$d6 << EOD
16 6.220
32 8.760
64 11.240
128 14.100
256 17.120
512 20.780
1024 25.780
2048 33.280
4096 45.770
EOD
$d7 << EOD
16 14.350
32 16.610
64 19.030
128 21.810
256 26.140
512 32.970
1024 44.260
2048 64.440
4096 102.390
EOD
$d8 << EOD
32 8.520
128 14.100
512 19.920
2048 31.240
EOD
$d9 << EOD
32 15.670
128 20.330
512 30.590
2048 60.860
EOD
$d10 << EOD
32 8.520
128 14.100
512 19.920
2048 29.500
EOD
$d11 << EOD
16 7.120
32 12.150
64 22.200
128 42.310
256 82.520
512 163.060
1024 324.720
2048 648.030
EOD
$d12 << EOD
16 14.320
32 22.840
64 39.880
128 73.970
256 142.440
512 279.380
1024 553.260
2048 1101.020
EOD
$d13 << EOD
16 5.010
32 8.830
64 16.470
128 31.750
256 62.310
512 123.640
1024 246.490
2048 492.190
EOD
$d14 << EOD
16 14.900
32 18.900
64 27.500
128 44.700
256 79.120
512 148.550
1024 287.390
2048 565.080
EOD
set terminal pngcairo noenhanced size 1000,740
set output 'coredirect-leaders-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'ring of leaders', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'ring of leaders, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'leaders by Bruck', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'leaders by Bruck, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'leaders by standard exchange', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'leaders by standard exchange, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3', $d9 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'leaders by standard exchange, k = 3, by hosts', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3, 3 ports', $d11 with linespoints linecolor 8 dashtype 1 pointtype 5 title '2 leaders a node', $d12 with linespoints linecolor 8 dashtype 2 pointtype 7 title '2 leaders a node, by hosts', $d13 with linespoints linecolor 9 dashtype 1 pointtype 5 title '2 groups a node', $d14 with linespoints linecolor 9 dashtype 2 pointtype 7 title '2 groups a node, by hosts'
set terminal svg noenhanced size 1000,740
set output 'coredirect-leaders-connectx2-latency.svg'
replot
unset output
