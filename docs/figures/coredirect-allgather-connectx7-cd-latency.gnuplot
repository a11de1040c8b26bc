set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allgather of one f64, connectx7-cd, simulated' noenhanced
set logscale y
$d0 << EOD
16 3.580
32 4.300
64 5.030
128 5.760
256 6.500
512 7.260
1024 8.060
2048 8.950
4096 10.000
EOD
$d1 << EOD
16 3.780
32 4.610
64 5.430
128 6.340
256 7.280
512 8.240
1024 9.250
2048 10.330
4096 11.580
EOD
$d2 << EOD
16 2.560
32 3.260
64 3.480
128 4.190
256 4.410
512 5.150
1024 5.380
2048 6.240
4096 6.710
EOD
$d3 << EOD
16 2.740
32 3.650
64 4.250
128 5.180
256 5.780
512 6.740
1024 7.340
2048 8.430
4096 9.160
EOD
$d4 << EOD
16 2.560
32 3.260
64 3.480
128 4.190
256 4.410
512 5.150
1024 5.370
2048 6.240
4096 6.460
EOD
$d5 << EOD
16 3.580
32 4.300
64 5.030
128 5.760
256 6.500
512 7.260
1024 8.060
2048 8.950
4096 10.000
EOD
$d6 << EOD
16 3.780
32 4.610
64 5.430
128 6.340
256 7.280
512 8.240
1024 9.250
2048 10.330
4096 11.580
EOD
$d7 << EOD
16 2.580
64 3.540
256 4.510
1024 5.520
4096 6.890
EOD
$d8 << EOD
16 2.740
64 4.250
256 5.780
1024 7.340
4096 9.150
EOD
$d9 << EOD
16 2.580
64 3.540
256 4.510
1024 5.510
4096 6.640
EOD
$d10 << EOD
16 3.580
32 4.300
64 5.030
128 5.760
256 6.500
512 7.260
1024 8.060
2048 8.950
4096 10.000
EOD
$d11 << EOD
16 3.780
32 4.610
64 5.430
128 6.340
256 7.280
512 8.240
1024 9.250
2048 10.330
4096 11.580
EOD
$d12 << EOD
16 6.100
32 11.380
64 21.950
128 43.080
256 85.340
512 169.860
1024 338.900
EOD
$d13 << EOD
16 6.760
32 13.110
64 26.230
128 52.280
256 98.460
512 190.660
1024 375.060
EOD
$d14 << EOD
16 10.660
32 21.220
64 42.350
128 84.600
256 169.100
512 338.100
1024 676.100
EOD
$d15 << EOD
16 10.800
32 22.320
64 45.370
128 91.460
256 183.640
512 368.000
1024 736.720
EOD
$d16 << EOD
16 3.080
32 5.040
64 9.520
128 18.480
256 36.400
512 72.240
EOD
$d17 << EOD
16 2.120
32 3.720
64 6.920
128 13.320
256 26.120
512 51.720
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-allgather-connectx7-cd-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'Bruck, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'Bruck, k = 3', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'Bruck, k = 3, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'Bruck, k = 3, 3 ports', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'standard exchange', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'standard exchange, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'standard exchange, k = 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'circulant', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'circulant, by hosts', $d12 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'neighbor exchange', $d13 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'neighbor exchange, by hosts', $d14 with linespoints linecolor 9 dashtype 1 pointtype 5 title 'ring', $d15 with linespoints linecolor 9 dashtype 2 pointtype 7 title 'ring, by hosts', $d16 with linespoints linecolor 10 dashtype 1 pointtype 5 title 'linear', $d17 with linespoints linecolor 10 dashtype 2 pointtype 7 title 'linear, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-allgather-connectx7-cd-latency.svg'
replot
unset output
