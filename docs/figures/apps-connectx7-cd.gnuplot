set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'gain, % of the time'
set title 'gain over blocking calls, connectx7-cd, simulated' noenhanced
set yrange [-60:60]
$d0 << EOD
16 6.096
32 6.319
64 6.526
128 6.330
256 6.146
512 5.971
EOD
$d1 << EOD
16 1.422
32 1.370
64 1.321
128 1.282
256 1.244
512 1.209
EOD
$d2 << EOD
16 5.827
32 8.221
64 12.165
128 18.677
256 28.818
512 42.766
EOD
$d3 << EOD
16 0.104
32 0.101
64 0.096
128 0.088
256 0.071
512 0.057
EOD
$d4 << EOD
16 8.958
32 15.293
64 10.560
128 18.589
256 23.270
512 8.489
EOD
$d5 << EOD
16 2.360
32 4.534
64 0.991
128 0.888
256 0.752
512 0.568
EOD
$d6 << EOD
16 -0.127
32 -0.174
64 -0.221
128 -0.267
256 -0.312
512 -0.357
EOD
$d7 << EOD
16 0.759
32 0.752
64 0.745
128 0.739
256 0.733
512 0.726
EOD
$d8 << EOD
16 3.024
32 3.800
64 4.575
128 5.308
256 7.828
512 9.735
EOD
$d9 << EOD
16 0.496
32 0.547
64 0.580
128 0.560
256 0.655
512 0.599
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'apps-connectx7-cd.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'cg', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'cg, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'compression', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'compression, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'fft', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'fft, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'pcg', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'pcg, by hosts', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'radixsort', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'radixsort, by hosts'
set terminal svg noenhanced size 1000,600
set output 'apps-connectx7-cd.svg'
replot
unset output
