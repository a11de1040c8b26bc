set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'gain, % of the time'
set title 'gain over blocking calls, connectx2, simulated' noenhanced
set yrange [-60:60]
$d0 << EOD
16 12.641
32 11.612
64 10.553
128 10.019
256 9.539
512 9.103
EOD
$d1 << EOD
16 1.074
32 -1.312
64 -1.209
128 -1.148
256 -1.093
512 -1.043
EOD
$d2 << EOD
16 25.947
32 39.578
64 37.179
128 24.155
256 14.253
512 7.843
EOD
$d3 << EOD
16 1.010
32 0.817
64 0.591
128 0.383
256 0.226
512 0.104
EOD
$d4 << EOD
16 27.507
32 17.749
64 -41.695
128 -102.833
256 -173.744
512 -241.200
EOD
$d5 << EOD
16 0.335
32 0.306
64 3.341
128 1.583
256 1.103
512 0.700
EOD
$d6 << EOD
16 -3.873
32 -6.819
64 -9.635
128 -12.315
256 -14.894
512 -17.366
EOD
$d7 << EOD
16 1.936
32 1.892
64 1.838
128 1.810
256 1.771
512 1.735
EOD
$d8 << EOD
16 2.999
32 3.753
64 4.492
128 5.223
256 5.943
512 6.653
EOD
$d9 << EOD
16 0.653
32 0.648
64 0.643
128 0.638
256 0.633
512 0.628
EOD
$d10 << EOD
16 8.189
32 11.510
64 13.536
128 10.033
256 9.790
512 6.142
EOD
$d11 << EOD
16 1.071
32 0.992
64 1.003
128 0.857
256 0.957
512 0.673
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'apps-connectx2.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'cg', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'cg, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'compression', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'compression, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'fft', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'fft, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'pcg', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'pcg, by hosts', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'pipecg', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'pipecg, by hosts', $d10 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'radixsort', $d11 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'radixsort, by hosts'
set terminal svg noenhanced size 1000,600
set output 'apps-connectx2.svg'
replot
unset output
