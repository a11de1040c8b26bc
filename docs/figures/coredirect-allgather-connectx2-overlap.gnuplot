set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allgather of one f64, connectx2, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
16 97.000
32 98.000
64 98.000
128 98.000
256 99.000
512 99.000
1024 99.000
2048 99.000
4096 99.000
EOD
$d1 << EOD
16 16.000
32 13.000
64 13.000
128 13.000
256 12.000
512 12.000
1024 12.000
2048 11.000
4096 9.000
EOD
$d2 << EOD
16 97.000
32 98.000
64 98.000
128 98.000
256 99.000
512 99.000
1024 99.000
2048 99.000
4096 99.000
EOD
$d3 << EOD
16 25.000
32 22.000
64 23.000
128 21.000
256 22.000
512 20.000
1024 21.000
2048 18.000
4096 16.000
EOD
$d4 << EOD
16 97.000
32 98.000
64 98.000
128 98.000
256 99.000
512 99.000
1024 99.000
2048 99.000
4096 99.000
EOD
$d5 << EOD
16 16.000
32 13.000
64 13.000
128 13.000
256 12.000
512 12.000
1024 12.000
2048 11.000
4096 9.000
EOD
$d6 << EOD
16 97.000
64 98.000
256 99.000
1024 99.000
4096 99.000
EOD
$d7 << EOD
16 25.000
64 23.000
256 22.000
1024 21.000
4096 16.000
EOD
$d8 << EOD
16 99.000
32 100.000
64 100.000
128 100.000
256 100.000
EOD
$d9 << EOD
16 6.000
32 3.000
64 1.000
128 1.000
256 0.000
EOD
$d10 << EOD
16 99.000
32 99.000
64 100.000
128 100.000
EOD
$d11 << EOD
16 95.000
32 97.000
64 99.000
128 99.000
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-allgather-connectx2-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'Bruck, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'Bruck, 3 ports', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'Bruck, 3 ports, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'standard exchange', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'standard exchange, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'standard exchange, 3 ports', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'standard exchange, 3 ports, by hosts', $d8 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'ring', $d9 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'ring, by hosts', $d10 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'linear', $d11 with linespoints linecolor 6 dashtype 2 pointtype 7 title 'linear, by hosts'
set terminal svg noenhanced size 1000,600
set output 'coredirect-allgather-connectx2-overlap.svg'
replot
unset output
