set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allgather of one f64, connectx2, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
16 97.423
32 97.884
64 98.199
128 98.462
256 98.668
512 98.840
1024 98.995
2048 99.145
4096 99.300
EOD
$d1 << EOD
16 16.085
32 13.115
64 12.873
128 12.643
256 12.416
512 12.114
1024 11.559
2048 10.684
4096 9.386
EOD
$d2 << EOD
16 97.250
32 97.736
64 98.131
128 98.379
256 98.592
512 98.763
1024 98.910
2048 99.073
4096 99.239
EOD
$d3 << EOD
16 24.624
32 21.538
64 23.377
128 20.877
256 22.263
512 20.155
1024 20.623
2048 17.937
4096 16.344
EOD
$d4 << EOD
16 97.250
32 97.736
64 98.131
128 98.379
256 98.592
512 98.763
1024 98.891
2048 99.059
4096 99.135
EOD
$d5 << EOD
16 97.423
32 97.884
64 98.199
128 98.462
256 98.668
512 98.840
1024 98.995
2048 99.145
4096 99.300
EOD
$d6 << EOD
16 16.085
32 13.115
64 12.873
128 12.643
256 12.416
512 12.114
1024 11.559
2048 10.684
4096 9.386
EOD
$d7 << EOD
16 97.347
64 98.220
256 98.667
1024 98.970
4096 99.276
EOD
$d8 << EOD
16 24.624
64 23.377
256 22.263
1024 20.669
4096 16.374
EOD
$d9 << EOD
16 97.347
64 98.220
256 98.667
1024 98.953
4096 99.182
EOD
$d10 << EOD
16 97.423
32 97.884
64 98.199
128 98.462
256 98.668
512 98.840
1024 98.995
2048 99.145
4096 99.300
EOD
$d11 << EOD
16 16.085
32 13.115
64 12.873
128 12.643
256 12.416
512 12.114
1024 11.559
2048 10.684
4096 9.386
EOD
$d12 << EOD
16 98.337
32 99.099
64 99.529
128 99.759
256 99.878
512 99.939
1024 99.969
EOD
$d13 << EOD
16 12.680
32 12.688
64 13.476
128 13.865
256 7.559
512 3.931
1024 2.005
EOD
$d14 << EOD
16 99.024
32 99.510
64 99.754
128 99.877
256 99.938
512 99.969
1024 99.985
EOD
$d15 << EOD
16 5.584
32 2.702
64 1.330
128 0.655
256 0.326
512 0.164
1024 0.082
EOD
$d16 << EOD
16 98.673
32 99.333
64 99.666
128 99.833
256 99.916
512 99.958
EOD
$d17 << EOD
16 25.000
32 13.889
64 7.353
128 3.788
256 1.923
512 0.969
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-allgather-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'Bruck, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'Bruck, k = 3', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'Bruck, k = 3, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'Bruck, k = 3, 3 ports', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'standard exchange', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'standard exchange, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'standard exchange, k = 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'circulant', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'circulant, by hosts', $d12 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'neighbor exchange', $d13 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'neighbor exchange, by hosts', $d14 with linespoints linecolor 9 dashtype 1 pointtype 5 title 'ring', $d15 with linespoints linecolor 9 dashtype 2 pointtype 7 title 'ring, by hosts', $d16 with linespoints linecolor 10 dashtype 1 pointtype 5 title 'linear', $d17 with linespoints linecolor 10 dashtype 2 pointtype 7 title 'linear, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-allgather-connectx2-overlap.svg'
replot
unset output
