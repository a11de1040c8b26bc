set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allreduce of one f64, connectx2, simulated' noenhanced
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
16 20.804
32 16.648
64 13.876
128 11.965
256 10.402
512 9.248
1024 8.324
2048 7.615
4096 6.935
EOD
$d2 << EOD
16 98.732
32 98.964
64 99.125
128 99.242
256 99.332
512 99.403
1024 99.460
2048 99.507
4096 99.547
EOD
$d3 << EOD
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
$d4 << EOD
16 98.608
32 98.844
64 99.022
128 99.115
256 99.257
512 99.335
1024 99.370
2048 99.427
4096 99.480
EOD
$d5 << EOD
16 15.607
32 14.563
64 10.482
128 8.265
256 7.769
512 6.187
1024 6.028
2048 5.054
4096 4.238
EOD
$d6 << EOD
16 98.554
32 98.853
64 98.999
128 99.152
256 99.234
512 99.327
1024 99.380
2048 99.442
4096 99.479
EOD
$d7 << EOD
16 22.909
32 15.075
64 14.069
128 10.243
256 9.781
512 7.569
1024 7.264
2048 5.857
4096 5.667
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-allreduce-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'recursive doubling', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts'
set terminal svg noenhanced size 1000,600
set output 'coredirect-allreduce-connectx2-overlap.svg'
replot
unset output
