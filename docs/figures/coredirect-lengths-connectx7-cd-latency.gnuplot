set key below
set grid
set logscale x 2
set xlabel 'bytes of a block'
set ylabel 'us'
set title 'allgather on 16 nodes, connectx7-cd, simulated' noenhanced
set logscale y
$d0 << EOD
8 3.580
128 3.620
1024 3.890
8192 6.520
32768 13.890
131072 43.380
524288 161.350
EOD
$d1 << EOD
8 2.580
128 2.590
1024 2.770
8192 5.280
32768 12.650
131072 42.140
524288 160.110
EOD
$d2 << EOD
8 2.580
128 2.590
1024 2.680
8192 3.880
32768 6.340
131072 16.170
524288 55.490
EOD
$d3 << EOD
8 10.660
128 10.700
1024 10.970
8192 14.000
32768 21.370
131072 50.860
524288 168.830
EOD
$d4 << EOD
8 42.350
128 42.500
1024 43.630
8192 54.540
32768 85.510
131072 209.370
524288 704.820
EOD
$d5 << EOD
8 11.270
128 12.960
1024 25.600
8192 126.910
32768 473.430
131072 1859.520
524288 7403.860
EOD
$d6 << EOD
8 3.230
128 4.820
1024 16.740
8192 111.830
32768 438.690
131072 1746.140
EOD
$d7 << EOD
8 17.610
128 18.580
1024 27.660
8192 101.480
32768 354.610
131072 1367.140
524288 5417.270
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-lengths-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'standard exchange', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d3 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'ring', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title '64 ranks, ring', $d5 with linespoints linecolor 5 dashtype 1 pointtype 5 title '64 ranks, ring of leaders, 4 a node', $d6 with linespoints linecolor 6 dashtype 1 pointtype 5 title '64 ranks, leaders by standard exchange, k = 3, 3 ports', $d7 with linespoints linecolor 7 dashtype 1 pointtype 5 title '64 ranks, 2 leaders, 4 a node'
set terminal svg noenhanced size 1000,600
set output 'coredirect-lengths-connectx7-cd-latency.svg'
replot
unset output
