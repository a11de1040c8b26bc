set key below
set grid
set logscale x 2
set xlabel 'bytes of a block'
set ylabel 'overlap, %'
set title 'allgather on 16 nodes, connectx7-cd, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
8 97.207
128 97.238
1024 97.429
8192 98.466
32768 99.280
131072 99.769
524288 99.938
EOD
$d1 << EOD
8 96.124
128 96.139
1024 96.390
8192 98.106
32768 99.209
131072 99.763
524288 99.938
EOD
$d2 << EOD
8 96.124
128 96.139
1024 96.269
8192 97.423
32768 98.423
131072 99.382
524288 99.820
EOD
$d3 << EOD
8 99.062
128 99.065
1024 99.088
8192 99.286
32768 99.532
131072 99.803
524288 99.941
EOD
$d4 << EOD
8 99.764
128 99.765
1024 99.771
8192 99.817
32768 99.883
131072 99.952
524288 99.986
EOD
$d5 << EOD
8 4.437
128 3.935
1024 2.344
8192 0.961
32768 0.777
131072 0.727
524288 0.714
EOD
$d6 << EOD
8 84.916
128 74.691
1024 41.367
8192 14.175
32768 8.992
131072 7.576
524288 7.214
EOD
$d7 << EOD
8 15.480
128 10.581
1024 3.584
8192 1.091
32768 0.837
131072 0.774
EOD
$d8 << EOD
8 47.368
128 31.950
1024 10.335
8192 2.602
32768 1.785
131072 1.575
EOD
$d9 << EOD
8 1.704
128 1.668
1024 1.446
8192 1.005
32768 0.981
131072 0.974
524288 0.972
EOD
set terminal pngcairo noenhanced size 1000,640
set output 'coredirect-lengths-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'standard exchange', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d3 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'ring', $d4 with linespoints linecolor 4 dashtype 1 pointtype 5 title '64 ranks, ring', $d5 with linespoints linecolor 5 dashtype 1 pointtype 5 title '64 ranks, ring of leaders, 4 a node', $d6 with linespoints linecolor 5 dashtype 3 pointtype 9 title '64 ranks, ring of leaders, 4 a node, after the gather', $d7 with linespoints linecolor 6 dashtype 1 pointtype 5 title '64 ranks, leaders by standard exchange, k = 3, 3 ports', $d8 with linespoints linecolor 6 dashtype 3 pointtype 9 title '64 ranks, leaders by standard exchange, k = 3, 3 ports, after the gather', $d9 with linespoints linecolor 7 dashtype 1 pointtype 5 title '64 ranks, 2 leaders, 4 a node'
set terminal svg noenhanced size 1000,640
set output 'coredirect-lengths-connectx7-cd-overlap.svg'
replot
unset output
