set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allreduce of one f64, flat and in two levels of 8 ranks, connectx2, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
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
$d1 << EOD
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
$d2 << EOD
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
$d3 << EOD
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
$d4 << EOD
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
$d5 << EOD
16 3.695
32 2.273
64 1.583
128 1.277
256 1.014
512 0.860
1024 0.746
2048 0.659
4096 0.590
EOD
$d6 << EOD
16 11.097
32 8.563
64 6.889
128 5.709
256 4.834
512 4.163
1024 3.633
2048 3.206
4096 2.854
EOD
$d7 << EOD
16 3.695
32 2.473
64 1.750
128 1.393
256 1.121
512 0.953
1024 0.865
2048 0.728
4096 0.653
EOD
$d8 << EOD
16 11.097
32 10.333
64 8.142
128 6.445
256 6.276
512 5.079
1024 4.312
2048 4.162
4096 3.526
EOD
$d9 << EOD
16 3.695
32 2.515
64 1.777
128 1.458
256 1.172
512 1.024
1024 0.869
2048 0.785
4096 0.690
EOD
$d10 << EOD
16 11.097
32 10.333
64 7.884
128 7.491
256 5.933
512 5.707
1024 4.671
2048 4.506
4096 3.766
EOD
$d11 << EOD
16 3.695
32 2.433
64 1.777
128 1.431
256 1.112
512 0.962
1024 0.822
2048 0.737
4096 0.652
EOD
$d12 << EOD
16 11.097
32 9.667
64 7.532
128 6.810
256 5.500
512 5.151
1024 4.251
2048 4.023
4096 3.406
EOD
$d13 << EOD
16 65.394
32 73.966
64 80.458
128 82.410
256 85.132
512 85.856
1024 87.366
2048 87.690
4096 88.679
EOD
set terminal pngcairo noenhanced size 1000,720
set output 'coredirect-two-level-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'flat, recursive doubling', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'flat, reduce-bcast, degrees 2 and 4', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'recursive doubling', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'recursive doubling, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d10 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts', $d11 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'reduce-bcast, degrees 2 and 4', $d12 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'reduce-bcast, degrees 2 and 4, by hosts', $d13 with linespoints linecolor 7 dashtype 3 pointtype 9 title 'reduce-bcast, degrees 2 and 4, after 1 us'
set terminal svg noenhanced size 1000,720
set output 'coredirect-two-level-connectx2-overlap.svg'
replot
unset output
