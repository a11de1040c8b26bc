set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'flat, and with leaders: one f64, connectx7-cd, simulated' noenhanced
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
16 16.835
32 9.766
64 5.302
128 2.772
256 1.418
512 0.717
1024 0.361
2048 0.181
EOD
$d6 << EOD
16 23.037
32 14.745
64 8.467
128 4.593
256 2.398
512 1.226
1024 0.625
2048 0.312
EOD
$d7 << EOD
16 22.321
32 13.966
64 7.987
128 4.303
256 2.237
512 1.164
1024 0.577
2048 0.290
EOD
$d8 << EOD
16 20.926
32 16.554
64 11.434
128 7.072
256 4.011
512 2.149
1024 1.115
2048 0.568
EOD
$d9 << EOD
16 23.196
32 20.426
64 18.478
128 17.035
256 15.922
512 15.038
1024 14.318
2048 13.721
4096 13.218
EOD
$d10 << EOD
16 13.688
32 10.778
64 9.574
128 8.054
256 7.362
512 6.429
1024 5.980
2048 5.349
4096 5.035
EOD
$d11 << EOD
16 11.719
32 9.309
64 7.579
128 6.392
256 5.526
512 4.867
1024 4.208
2048 3.802
4096 3.468
EOD
$d12 << EOD
16 13.483
32 11.881
64 10.619
128 9.600
256 8.759
512 8.054
1024 7.453
2048 6.936
4096 6.486
EOD
$d13 << EOD
16 21.484
32 16.817
64 13.692
128 11.546
256 9.982
512 8.791
1024 7.854
2048 7.098
4096 6.474
EOD
set terminal pngcairo noenhanced size 1000,720
set output 'coredirect-leaders-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'allgather, Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'allgather, ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'allgather, ring of leaders, 8 a node', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'allgather, ring of leaders, 8 a node, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'allgather, ring of leaders, 8 a node, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'allgather, 2 leaders, 8 a node', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'allgather, 2 leaders, 8 a node, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'allgather, 2 groups, 8 a node', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'allgather, 2 groups, 8 a node, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'allreduce, recursive doubling', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'allreduce, reduce-bcast, degrees 2 and 4', $d11 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'allreduce, two-level, 8 a node', $d12 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'allreduce, two-level, 8 a node, by hosts', $d13 with linespoints linecolor 8 dashtype 3 pointtype 9 title 'allreduce, two-level, 8 a node, after 1 us'
set terminal svg noenhanced size 1000,720
set output 'coredirect-leaders-connectx7-cd-overlap.svg'
replot
unset output
