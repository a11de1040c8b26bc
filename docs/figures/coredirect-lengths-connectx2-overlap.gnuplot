set key below
set grid
set logscale x 2
set xlabel 'bytes of a block'
set ylabel 'overlap, %'
set title 'allgather on 16 nodes, connectx2, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
8 97.423
128 97.541
1024 98.166
8192 99.401
32768 99.817
131072 99.952
524288 99.988
EOD
$d1 << EOD
8 97.347
128 97.391
1024 97.949
8192 99.367
32768 99.814
131072 99.952
524288 99.988
EOD
$d2 << EOD
8 97.347
128 97.391
1024 97.673
8192 98.770
32768 99.520
131072 99.860
524288 99.964
EOD
$d3 << EOD
8 99.024
128 99.042
1024 99.154
8192 99.591
32768 99.840
131072 99.953
524288 99.988
EOD
$d4 << EOD
8 99.754
128 99.759
1024 99.789
8192 99.901
32768 99.962
131072 99.989
524288 99.997
EOD
$d5 << EOD
8 2.835
128 2.605
1024 1.599
8192 0.651
32768 0.363
131072 0.329
524288 0.320
EOD
$d6 << EOD
8 93.071
128 89.264
1024 75.760
8192 62.677
32768 59.562
131072 58.707
524288 58.487
EOD
$d7 << EOD
8 7.059
128 6.481
1024 3.209
8192 1.558
32768 0.611
131072 0.546
EOD
$d8 << EOD
8 74.902
128 73.291
1024 50.866
8192 34.696
32768 32.156
131072 31.601
EOD
$d9 << EOD
8 0.721
128 0.741
1024 0.679
8192 0.793
32768 0.422
131072 0.397
524288 0.391
EOD
set terminal pngcairo noenhanced size 1000,640
set output 'coredirect-lengths-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'standard exchange', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d3 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'ring', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title '64 ranks, ring', $d5 with linespoints linecolor 5 dashtype 1 pointtype 5 title '64 ranks, ring of leaders, 4 a node', $d6 with linespoints linecolor 5 dashtype 3 pointtype 9 title '64 ranks, ring of leaders, 4 a node, after the gather', $d7 with linespoints linecolor 6 dashtype 1 pointtype 5 title '64 ranks, leaders by standard exchange, k = 3, 3 ports', $d8 with linespoints linecolor 6 dashtype 3 pointtype 9 title '64 ranks, leaders by standard exchange, k = 3, 3 ports, after the gather', $d9 with linespoints linecolor 7 dashtype 1 pointtype 5 title '64 ranks, 2 leaders, 4 a node'
set terminal svg noenhanced size 1000,640
set output 'coredirect-lengths-connectx2-overlap.svg'
replot
unset output
