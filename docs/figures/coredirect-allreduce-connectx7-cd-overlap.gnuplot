set key outside right
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'overlap, %'
set title 'allreduce of one f64, connectx7-cd, simulated' noenhanced
set yrange [0:105]
$d0 << EOD
16 23.000
32 20.000
64 18.000
128 17.000
256 16.000
512 15.000
1024 14.000
2048 14.000
EOD
$d1 << EOD
16 22.000
32 17.000
64 14.000
128 12.000
256 11.000
512 10.000
1024 9.000
2048 8.000
EOD
$d2 << EOD
16 11.000
32 9.000
64 8.000
128 7.000
256 6.000
512 5.000
1024 5.000
2048 4.000
EOD
$d3 << EOD
16 11.000
32 9.000
64 7.000
128 6.000
256 5.000
512 4.000
1024 4.000
2048 3.000
EOD
$d4 << EOD
16 15.000
32 14.000
64 11.000
128 9.000
256 9.000
512 8.000
1024 8.000
2048 7.000
EOD
$d5 << EOD
16 16.000
32 15.000
64 11.000
128 9.000
256 8.000
512 6.000
1024 6.000
2048 5.000
EOD
$d6 << EOD
16 20.000
32 14.000
64 14.000
128 11.000
256 11.000
512 9.000
1024 9.000
2048 8.000
EOD
$d7 << EOD
16 23.000
32 15.000
64 14.000
128 10.000
256 10.000
512 8.000
1024 8.000
2048 6.000
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'docs/figures/coredirect-allreduce-connectx7-cd-overlap.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'recursive doubling', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'recursive doubling, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'reduce-bcast, degree 2', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'reduce-bcast, degree 2, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'reduce-bcast, degree 3', $d5 with linespoints linecolor 3 dashtype 2 pointtype 7 title 'reduce-bcast, degree 3, by hosts', $d6 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'reduce-bcast, degree 4', $d7 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'reduce-bcast, degree 4, by hosts'
set terminal svg noenhanced size 1000,600
set output 'docs/figures/coredirect-allreduce-connectx7-cd-overlap.svg'
replot
unset output
