set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'flat, and with leaders: one f64, connectx2, simulated' noenhanced
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
16 12.640
32 7.407
64 4.054
128 2.127
256 1.091
512 0.552
1024 0.280
2048 0.139
EOD
$d6 << EOD
16 23.115
32 14.492
64 8.300
128 4.475
256 2.324
512 1.185
1024 0.598
2048 0.301
EOD
$d7 << EOD
16 17.964
32 10.193
64 5.464
128 2.835
256 1.444
512 0.728
1024 0.365
2048 0.183
EOD
$d8 << EOD
16 22.215
32 17.513
64 12.036
128 7.405
256 4.184
512 2.228
1024 1.152
2048 0.586
EOD
$d9 << EOD
16 98.270
32 98.608
64 98.835
128 98.999
256 99.122
512 99.219
1024 99.296
2048 99.359
4096 99.412
EOD
$d10 << EOD
16 98.575
32 98.862
64 99.019
128 99.164
256 99.252
512 99.339
1024 99.395
2048 99.454
4096 99.493
EOD
$d11 << EOD
16 5.236
32 3.055
64 2.138
128 1.645
256 1.336
512 1.125
1024 0.972
2048 0.855
4096 0.764
EOD
$d12 << EOD
16 13.388
32 11.749
64 10.514
128 9.514
256 8.731
512 7.989
1024 7.398
2048 6.889
4096 6.478
EOD
$d13 << EOD
16 52.534
32 69.348
64 77.120
128 81.305
256 83.920
512 85.709
1024 87.010
2048 87.999
4096 88.776
EOD
set terminal pngcairo noenhanced size 1000,720
set output 'coredirect-leaders-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'allgather, Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'allgather, ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'allgather, ring of leaders, 8 a node', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'allgather, ring of leaders, 8 a node, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'allgather, ring of leaders, 8 a node, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'allgather, 2 leaders, 8 a node', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'allgather, 2 leaders, 8 a node, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'allgather, 2 groups, 8 a node', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'allgather, 2 groups, 8 a node, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'allreduce, recursive doubling', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'allreduce, reduce-bcast, degrees 2 and 4', $d11 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'allreduce, two-level, 8 a node', $d12 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'allreduce, two-level, 8 a node, by hosts', $d13 with linespoints linecolor 8 dashtype 3 pointtype 9 title 'allreduce, two-level, 8 a node, after 1 us'
set terminal svg noenhanced size 1000,720
set output 'coredirect-leaders-connectx2-overlap.svg'
replot
unset output
