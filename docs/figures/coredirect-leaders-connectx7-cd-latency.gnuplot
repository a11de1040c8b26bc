set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'flat, and with leaders: one f64, connectx7-cd, simulated' noenhanced
set logscale y
$d0 << EOD
16 3.580
32 4.300
64 5.030
128 5.760
256 6.500
512 7.260
1024 8.060
EOD
$d1 << EOD
16 10.660
32 21.220
64 42.350
128 84.600
256 169.100
EOD
$d2 << EOD
16 2.660
32 4.020
64 6.740
128 12.190
256 23.070
512 44.850
1024 88.400
EOD
$d3 << EOD
16 2.970
32 5.120
64 9.430
128 18.040
256 35.270
512 69.720
EOD
$d4 << EOD
16 2.240
32 3.580
64 6.260
128 11.620
256 22.350
512 43.800
EOD
$d5 << EOD
16 3.880
32 4.700
64 5.520
128 6.340
256 7.160
512 7.980
1024 8.800
2048 9.620
4096 10.440
EOD
$d6 << EOD
16 5.260
32 6.680
64 7.520
128 8.940
256 9.780
512 11.200
1024 12.040
2048 13.460
4096 14.300
EOD
$d7 << EOD
16 2.560
32 3.330
64 4.090
128 4.850
256 5.610
512 6.370
1024 7.130
2048 7.890
4096 8.650
EOD
set terminal pngcairo noenhanced size 1000,600
set output 'coredirect-leaders-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'allgather, Bruck', $d1 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'allgather, ring', $d2 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'allgather, ring of leaders, 8 a node', $d3 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'allgather, 2 leaders, 8 a node', $d4 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'allgather, 2 groups, 8 a node', $d5 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'allreduce, recursive doubling', $d6 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'allreduce, reduce-bcast, degrees 2 and 4', $d7 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'allreduce, two-level, 8 a node'
set terminal svg noenhanced size 1000,600
set output 'coredirect-leaders-connectx7-cd-latency.svg'
replot
unset output
