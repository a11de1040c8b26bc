set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allreduce of one f64, connectx7-cd, simulated' noenhanced
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
16 21.528
32 17.222
64 14.352
128 12.302
256 10.764
512 9.568
1024 8.611
2048 7.828
4096 7.176
EOD
$d2 << EOD
16 11.146
32 9.137
64 7.742
128 6.716
256 5.931
512 5.310
1024 4.806
2048 4.390
4096 4.040
EOD
$d3 << EOD
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
$d4 << EOD
16 14.510
32 14.068
64 11.145
128 9.250
256 9.002
512 7.708
1024 7.629
2048 6.679
4096 5.920
EOD
$d5 << EOD
16 15.709
32 15.009
64 10.691
128 8.548
256 8.031
512 6.431
1024 6.355
2048 5.260
4096 4.449
EOD
$d6 << EOD
16 19.689
32 14.394
64 14.074
128 11.144
256 10.951
512 9.091
1024 8.962
2048 7.677
4096 7.585
EOD
$d7 << EOD
16 23.308
32 15.423
64 14.308
128 10.490
256 10.131
512 7.868
1024 7.529
2048 6.069
4096 5.973
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-allreduce-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'recursive doubling', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts'
set terminal svg noenhanced size 1000,600
set output 'coredirect-allreduce-connectx7-cd-overlap.svg'
replot
unset output
