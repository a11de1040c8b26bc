set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'flat, and with leaders: one f64, connectx2, simulated' noenhanced
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
16 7.120
32 12.150
64 22.200
128 42.310
256 82.520
512 163.060
1024 324.720
2048 648.030
EOD
$d5 << EOD
16 14.320
32 22.840
64 39.880
128 73.970
256 142.440
512 279.380
1024 553.260
2048 1101.020
EOD
$d6 << EOD
16 5.010
32 8.830
64 16.470
128 31.750
256 62.310
512 123.640
1024 246.490
2048 492.190
EOD
$d7 << EOD
16 14.900
32 18.900
64 27.500
128 44.700
256 79.120
512 148.550
1024 287.390
2048 565.080
EOD
$d8 << EOD
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
$d9 << EOD
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
$d10 << EOD
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
$d11 << EOD
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
set terminal pngcairo noenhanced size 1000,680
set output 'coredirect-leaders-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'allgather, Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'allgather, ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'allgather, ring of leaders, 8 a node', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'allgather, ring of leaders, 8 a node, by hosts', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'allgather, 2 leaders, 8 a node', $d5 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'allgather, 2 leaders, 8 a node, by hosts', $d6 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'allgather, 2 groups, 8 a node', $d7 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'allgather, 2 groups, 8 a node, by hosts', $d8 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'allreduce, recursive doubling', $d9 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'allreduce, reduce-bcast, degrees 2 and 4', $d10 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'allreduce, two-level, 8 a node', $d11 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'allreduce, two-level, 8 a node, by hosts'
set terminal svg noenhanced size 1000,680
set output 'coredirect-leaders-connectx2-latency.svg'
replot
unset output
