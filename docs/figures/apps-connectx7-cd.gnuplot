set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'gain, % of the time'
set title 'gain over blocking calls, connectx7-cd, simulated' noenhanced
set yrange [-60:60]
$d0 << EOD
16 6.408
32 6.631
64 6.837
128 6.622
256 6.419
512 6.229
EOD
$d1 << EOD
16 1.508
32 1.450
64 1.396
128 1.352
256 1.311
512 1.272
EOD
$d2 << EOD
16 5.480
32 7.748
64 11.501
128 17.738
256 27.551
512 41.251
EOD
$d3 << EOD
16 0.091
32 0.088
64 0.084
128 0.084
256 0.068
512 0.055
EOD
$d4 << EOD
16 8.058
32 13.857
64 9.516
128 16.907
256 24.042
512 9.987
EOD
$d5 << EOD
16 2.118
32 4.104
64 0.887
128 0.802
256 0.689
512 0.529
EOD
$d6 << EOD
16 -0.135
32 -0.188
64 -0.241
128 -0.292
256 -0.343
512 -0.392
EOD
$d7 << EOD
16 0.863
32 0.855
64 0.846
128 0.838
256 0.830
512 0.822
EOD
$d8 << EOD
16 -0.046
32 -0.064
64 -0.081
128 -0.099
256 -0.116
512 -0.133
EOD
$d9 << EOD
16 0.277
32 0.276
64 0.275
128 0.274
256 0.273
512 0.272
EOD
$d10 << EOD
16 3.622
32 4.511
64 5.356
128 6.083
256 9.046
512 10.967
EOD
$d11 << EOD
16 0.591
32 0.647
64 0.677
128 0.647
256 0.763
512 0.674
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'apps-connectx7-cd.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'cg', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'cg, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'compression', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'compression, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'fft', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'fft, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'pcg', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'pcg, by hosts', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'pipecg', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'pipecg, by hosts', $d10 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'radixsort', $d11 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'radixsort, by hosts'
set terminal svg noenhanced size 1000,600
set output 'apps-connectx7-cd.svg'
replot
unset output
