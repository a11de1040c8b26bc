set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allreduce of one f64, flat and in two levels of 8 ranks, connectx7-cd, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
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
$d1 << EOD
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
$d2 << EOD
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
$d3 << EOD
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
$d4 << EOD
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
$d5 << EOD
16 8.540
32 6.139
64 4.791
128 3.802
256 3.222
512 2.796
1024 2.469
2048 2.211
4096 2.001
EOD
$d6 << EOD
16 11.321
32 8.780
64 7.101
128 5.911
256 5.028
512 4.348
1024 3.810
2048 3.374
4096 3.015
EOD
$d7 << EOD
16 8.540
32 8.267
64 6.043
128 4.733
256 4.620
512 3.708
1024 3.175
2048 3.102
4096 2.715
EOD
$d8 << EOD
16 11.321
32 10.635
64 8.372
128 6.704
256 6.516
512 5.337
1024 4.548
2048 4.409
4096 3.756
EOD
$d9 << EOD
16 8.540
32 8.267
64 5.996
128 5.860
256 4.620
512 4.539
1024 3.636
2048 3.584
4096 3.064
EOD
$d10 << EOD
16 11.321
32 10.635
64 8.173
128 7.818
256 6.234
512 6.025
1024 4.935
2048 4.800
4096 4.013
EOD
$d11 << EOD
16 8.540
32 6.935
64 5.263
128 4.606
256 3.681
512 3.337
1024 2.882
2048 2.667
4096 2.368
EOD
$d12 << EOD
16 11.321
32 9.890
64 7.725
128 7.031
256 5.723
512 5.333
1024 4.461
2048 4.220
4096 3.600
EOD
$d13 << EOD
16 18.182
32 14.765
64 11.205
128 9.807
256 8.098
512 7.341
1024 6.340
2048 5.867
4096 5.209
EOD
set terminal pngcairo noenhanced size 1000,720
set output 'coredirect-two-level-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'flat, recursive doubling', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'flat, reduce-bcast, degrees 2 and 4', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'recursive doubling', $d3 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d4 with linespoints linecolor 3 dashtype 3 pointtype 9 title 'recursive doubling, after 1 us', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d10 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts', $d11 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'reduce-bcast, degrees 2 and 4', $d12 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'reduce-bcast, degrees 2 and 4, by hosts', $d13 with linespoints linecolor 7 dashtype 3 pointtype 9 title 'reduce-bcast, degrees 2 and 4, after 1 us'
set terminal svg noenhanced size 1000,720
set output 'coredirect-two-level-connectx7-cd-overlap.svg'
replot
unset output
