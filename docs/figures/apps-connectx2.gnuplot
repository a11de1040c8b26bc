set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'gain, % of the time'
set title 'gain over blocking calls, connectx2, simulated' noenhanced
set yrange [-60:60]
$d0 << EOD
16 15.549
32 14.329
64 13.097
128 12.454
256 11.875
512 11.346
EOD
$d1 << EOD
16 1.028
32 -1.259
64 -1.163
128 -1.106
256 -1.055
512 -1.008
EOD
$d2 << EOD
16 27.134
32 41.019
64 35.886
128 23.099
256 13.534
512 7.413
EOD
$d3 << EOD
16 1.061
32 0.846
64 0.609
128 0.387
256 0.228
512 0.105
EOD
$d4 << EOD
16 27.031
32 16.538
64 -48.334
128 -112.671
256 -184.491
512 -250.307
EOD
$d5 << EOD
16 0.356
32 0.335
64 3.643
128 1.703
256 1.164
512 0.725
EOD
$d6 << EOD
16 -2.342
32 -5.015
64 -7.581
128 -10.035
256 -12.406
512 -14.689
EOD
$d7 << EOD
16 1.736
32 1.690
64 1.656
128 1.634
256 1.603
512 1.562
EOD
$d8 << EOD
16 7.259
32 10.291
64 14.756
128 18.995
256 22.360
512 14.503
EOD
$d9 << EOD
16 0.951
32 0.888
64 0.904
128 0.795
256 0.889
512 0.642
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'apps-connectx2.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'cg', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'cg, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'compression', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'compression, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'fft', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'fft, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'pcg', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'pcg, by hosts', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'radixsort', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'radixsort, by hosts'
set terminal svg noenhanced size 1000,600
set output 'apps-connectx2.svg'
replot
unset output
