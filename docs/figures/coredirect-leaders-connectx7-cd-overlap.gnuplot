set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allgather of one f64, flat and with leaders of 8 ranks, connectx7-cd, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
16 97.207
32 97.674
64 98.012
128 98.264
256 98.462
512 98.623
1024 98.759
2048 98.883
4096 99.000
EOD
$d1 << EOD
16 99.062
32 99.529
64 99.764
128 99.882
256 99.941
512 99.970
1024 99.985
EOD
$d2 << EOD
16 33.835
32 22.388
64 13.353
128 7.383
256 3.901
512 2.007
1024 1.018
2048 0.513
4096 0.260
EOD
$d3 << EOD
16 29.401
32 25.419
64 19.688
128 15.115
256 13.786
512 7.888
1024 4.205
2048 2.171
4096 1.103
EOD
$d4 << EOD
16 23.308
32 48.259
64 68.101
128 81.050
256 88.643
512 92.798
1024 94.955
2048 96.057
4096 96.617
EOD
$d5 << EOD
16 33.835
32 26.316
64 21.327
128 17.613
256 14.634
512 11.952
1024 9.414
2048 6.977
4096 4.822
EOD
$d6 << EOD
16 29.401
32 25.552
64 22.563
128 20.149
256 18.121
512 16.314
1024 14.978
2048 13.423
4096 11.425
EOD
$d7 << EOD
16 23.308
32 39.181
64 49.052
128 54.795
256 57.398
512 57.105
1024 53.347
2048 46.357
4096 37.308
EOD
$d8 << EOD
16 33.835
32 26.316
64 21.327
128 17.613
256 14.634
512 11.952
1024 9.414
2048 6.977
4096 4.822
EOD
$d9 << EOD
16 29.401
32 25.552
64 22.563
128 20.149
256 18.121
512 16.314
1024 14.978
2048 13.423
4096 11.425
EOD
$d10 << EOD
32 30.612
128 21.792
512 14.901
2048 8.295
EOD
$d11 << EOD
32 27.365
128 22.531
512 21.372
2048 18.540
EOD
$d12 << EOD
32 30.612
128 21.792
512 14.901
2048 8.364
EOD
$d13 << EOD
32 29.252
128 44.068
512 46.523
2048 35.688
EOD
$d14 << EOD
16 16.835
32 9.766
64 5.302
128 2.772
256 1.418
512 0.717
1024 0.361
2048 0.181
EOD
$d15 << EOD
16 23.037
32 14.745
64 8.467
128 4.593
256 2.398
512 1.226
1024 0.625
2048 0.312
EOD
$d16 << EOD
16 22.321
32 13.966
64 7.987
128 4.303
256 2.237
512 1.164
1024 0.577
2048 0.290
EOD
$d17 << EOD
16 20.926
32 16.554
64 11.434
128 7.072
256 4.011
512 2.149
1024 1.115
2048 0.568
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-leaders-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'ring of leaders', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'ring of leaders, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'ring of leaders, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'leaders by Bruck', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'leaders by Bruck, by hosts', $d7 with linespoints linecolor 4 dashtype 3 pointtype 9 title 'leaders by Bruck, after 1 us', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'leaders by standard exchange', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'leaders by standard exchange, by hosts', $d10 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3', $d11 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'leaders by standard exchange, k = 3, by hosts', $d12 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3, 3 ports', $d13 with linespoints linecolor 7 dashtype 3 pointtype 9 title 'leaders by standard exchange, k = 3, 3 ports, after 1 us', $d14 with linespoints linecolor 8 dashtype 1 pointtype 5 title '2 leaders a node', $d15 with linespoints linecolor 8 dashtype 2 pointtype 7 title '2 leaders a node, by hosts', $d16 with linespoints linecolor 9 dashtype 1 pointtype 5 title '2 groups a node', $d17 with linespoints linecolor 9 dashtype 2 pointtype 7 title '2 groups a node, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-leaders-connectx7-cd-overlap.svg'
replot
unset output
