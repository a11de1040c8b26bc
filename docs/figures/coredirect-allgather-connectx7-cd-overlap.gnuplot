set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allgather of one f64, connectx7-cd, simulated' noenhanced
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
16 16.402
32 13.666
64 11.418
128 11.041
256 10.989
512 10.922
1024 10.919
2048 10.649
4096 10.363
EOD
$d2 << EOD
16 96.094
32 96.933
64 97.126
128 97.613
256 97.732
512 98.058
1024 98.141
2048 98.397
4096 98.510
EOD
$d3 << EOD
16 22.628
32 19.178
64 21.176
128 19.305
256 20.761
512 19.288
1024 20.436
2048 18.980
4096 19.760
EOD
$d4 << EOD
16 96.094
32 96.933
64 97.126
128 97.613
256 97.732
512 98.058
1024 98.138
2048 98.397
4096 98.452
EOD
$d5 << EOD
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
$d6 << EOD
16 16.402
32 13.666
64 11.418
128 11.041
256 10.989
512 10.922
1024 10.919
2048 10.649
4096 10.363
EOD
$d7 << EOD
16 96.124
64 97.175
256 97.783
1024 98.188
4096 98.549
EOD
$d8 << EOD
16 22.628
64 21.412
256 20.934
1024 20.572
4096 19.672
EOD
$d9 << EOD
16 96.124
64 97.175
256 97.783
1024 98.185
4096 98.494
EOD
$d10 << EOD
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
$d11 << EOD
16 16.402
32 13.666
64 11.418
128 11.041
256 10.989
512 10.922
1024 10.919
2048 10.649
4096 10.363
EOD
$d12 << EOD
16 98.361
32 99.121
64 99.544
128 99.768
256 99.883
512 99.941
1024 99.970
EOD
$d13 << EOD
16 13.609
32 11.518
64 11.819
128 11.668
256 6.277
512 3.241
1024 1.648
EOD
$d14 << EOD
16 99.062
32 99.529
64 99.764
128 99.882
256 99.941
512 99.970
1024 99.985
EOD
$d15 << EOD
16 5.741
32 2.778
64 1.367
128 0.678
256 0.338
512 0.168
1024 0.084
EOD
$d16 << EOD
16 96.753
32 98.016
64 98.950
128 99.459
256 99.725
512 99.862
EOD
$d17 << EOD
16 29.245
32 16.667
64 8.960
128 4.655
256 2.374
512 1.199
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-allgather-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'Bruck, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'Bruck, k = 3', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'Bruck, k = 3, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'Bruck, k = 3, 3 ports', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'standard exchange', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'standard exchange, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'standard exchange, k = 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'circulant', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'circulant, by hosts', $d12 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'neighbor exchange', $d13 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'neighbor exchange, by hosts', $d14 with linespoints linecolor 9 dashtype 1 pointtype 5 title 'ring', $d15 with linespoints linecolor 9 dashtype 2 pointtype 7 title 'ring, by hosts', $d16 with linespoints linecolor 10 dashtype 1 pointtype 5 title 'linear', $d17 with linespoints linecolor 10 dashtype 2 pointtype 7 title 'linear, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-allgather-connectx7-cd-overlap.svg'
replot
unset output
