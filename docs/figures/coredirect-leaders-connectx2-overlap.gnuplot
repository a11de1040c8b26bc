set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allgather of one f64, flat and with leaders of 8 ranks, connectx2, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
16 97.423
32 97.884
64 98.199
128 98.462
256 98.668
512 98.840
1024 98.995
2048 99.145
4096 99.300
EOD
$d1 << EOD
16 99.024
32 99.510
64 99.754
128 99.877
256 99.938
512 99.969
1024 99.985
EOD
$d2 << EOD
16 33.762
32 20.875
64 11.838
128 6.344
256 3.280
512 1.666
1024 0.839
2048 0.423
4096 0.211
EOD
$d3 << EOD
16 31.429
32 26.127
64 19.420
128 17.144
256 14.478
512 8.418
1024 4.479
2048 2.315
4096 1.176
EOD
$d4 << EOD
16 41.479
32 63.419
64 78.861
128 88.187
256 93.409
512 96.169
1024 97.578
2048 98.290
4096 98.650
EOD
$d5 << EOD
16 33.762
32 23.973
64 18.683
128 14.894
256 12.266
512 10.106
1024 8.146
2048 6.340
4096 4.588
EOD
$d6 << EOD
16 31.429
32 27.152
64 23.699
128 20.679
256 17.292
512 14.559
1024 11.523
2048 8.395
4096 5.567
EOD
$d7 << EOD
16 41.479
32 57.763
64 65.302
128 70.922
256 74.883
512 76.756
1024 76.493
2048 74.399
4096 70.658
EOD
$d8 << EOD
16 33.762
32 23.973
64 18.683
128 14.894
256 12.266
512 10.106
1024 8.146
2048 6.340
4096 4.588
EOD
$d9 << EOD
16 31.429
32 27.152
64 23.699
128 20.679
256 17.292
512 14.559
1024 11.523
2048 8.395
4096 5.567
EOD
$d10 << EOD
32 24.648
128 14.894
512 10.542
2048 6.722
EOD
$d11 << EOD
32 28.781
128 23.660
512 18.634
2048 10.845
EOD
$d12 << EOD
32 24.648
128 14.894
512 10.542
2048 7.119
EOD
$d13 << EOD
32 54.225
128 68.085
512 74.398
2048 71.119
EOD
$d14 << EOD
16 12.640
32 7.407
64 4.054
128 2.127
256 1.091
512 0.552
1024 0.280
2048 0.139
EOD
$d15 << EOD
16 23.115
32 14.492
64 8.300
128 4.475
256 2.324
512 1.185
1024 0.598
2048 0.301
EOD
$d16 << EOD
16 17.964
32 10.193
64 5.464
128 2.835
256 1.444
512 0.728
1024 0.365
2048 0.183
EOD
$d17 << EOD
16 22.215
32 17.513
64 12.036
128 7.405
256 4.184
512 2.228
1024 1.152
2048 0.586
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-leaders-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'ring of leaders', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'ring of leaders, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'ring of leaders, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'leaders by Bruck', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'leaders by Bruck, by hosts', $d7 with linespoints linecolor 4 dashtype 3 pointtype 9 title 'leaders by Bruck, after 1 us', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'leaders by standard exchange', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'leaders by standard exchange, by hosts', $d10 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3', $d11 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'leaders by standard exchange, k = 3, by hosts', $d12 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'leaders by standard exchange, k = 3, 3 ports', $d13 with linespoints linecolor 7 dashtype 3 pointtype 9 title 'leaders by standard exchange, k = 3, 3 ports, after 1 us', $d14 with linespoints linecolor 8 dashtype 1 pointtype 5 title '2 leaders a node', $d15 with linespoints linecolor 8 dashtype 2 pointtype 7 title '2 leaders a node, by hosts', $d16 with linespoints linecolor 9 dashtype 1 pointtype 5 title '2 groups a node', $d17 with linespoints linecolor 9 dashtype 2 pointtype 7 title '2 groups a node, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-leaders-connectx2-overlap.svg'
replot
unset output
