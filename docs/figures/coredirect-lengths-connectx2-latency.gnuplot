set key below
set grid
set logscale x 2
set xlabel 'bytes of a block'
set ylabel 'us'
set title 'allgather on 16 nodes, connectx2, simulated' noenhanced
set logscale y
$d0 << EOD
8 11.640
128 12.200
1024 16.360
8192 50.090
32768 164.370
131072 621.480
524288 2449.940
EOD
$d1 << EOD
8 11.310
128 11.500
1024 14.630
8192 47.390
32768 161.670
131072 618.780
524288 2447.240
EOD
$d2 << EOD
8 11.310
128 11.500
1024 12.890
8192 24.400
32768 62.490
131072 214.860
524288 824.350
EOD
$d3 << EOD
8 30.740
128 31.300
1024 35.460
8192 73.390
32768 187.670
131072 644.780
524288 2473.240
EOD
$d4 << EOD
8 122.060
128 124.400
1024 141.900
8192 302.090
32768 785.160
131072 2705.040
524288 10384.540
EOD
$d5 << EOD
8 31.750
128 34.930
1024 63.160
8192 291.830
32768 1065.490
131072 4162.070
524288 16548.370
EOD
$d6 << EOD
8 12.750
128 14.040
1024 31.160
8192 166.850
32768 635.070
131072 2512.680
EOD
$d7 << EOD
8 41.600
128 43.170
1024 60.390
8192 214.280
32768 845.790
131072 3374.170
524288 13487.690
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-lengths-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'standard exchange', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d3 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'ring', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title '64 ranks, ring', $d5 with linespoints linecolor 5 dashtype 1 pointtype 5 title '64 ranks, ring of leaders, 4 a node', $d6 with linespoints linecolor 6 dashtype 1 pointtype 5 title '64 ranks, leaders by standard exchange, k = 3, 3 ports', $d7 with linespoints linecolor 7 dashtype 1 pointtype 5 title '64 ranks, 2 leaders, 4 a node'
set terminal svg noenhanced size 1000,600
set output 'coredirect-lengths-connectx2-latency.svg'
replot
unset output
