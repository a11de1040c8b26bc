set key below
set grid
set logscale x 2
set xlabel 'ranks'
set ylabel 'us'
set title 'allgather of one f64, connectx2, simulated' noenhanced
set logscale y
$d0 << EOD
16 11.640
32 14.180
64 16.660
128 19.510
256 22.530
512 25.870
1024 29.840
2048 35.080
4096 42.860
EOD
$d1 << EOD
16 9.450
32 11.590
64 14.060
128 16.610
256 19.330
512 22.370
1024 26.040
2048 30.980
4096 38.460
EOD
$d2 << EOD
16 10.910
32 13.250
64 16.050
128 18.510
256 21.310
512 24.250
1024 27.520
2048 32.350
4096 39.430
EOD
$d3 << EOD
16 7.310
32 9.750
64 11.550
128 14.370
256 16.170
512 19.350
1024 21.820
2048 26.760
4096 33.040
EOD
$d4 << EOD
16 10.910
32 13.250
64 16.050
128 18.510
256 21.310
512 24.250
1024 27.050
2048 31.890
4096 34.690
EOD
$d5 << EOD
16 11.640
32 14.180
64 16.660
128 19.510
256 22.530
512 25.870
1024 29.840
2048 35.080
4096 42.860
EOD
$d6 << EOD
16 9.450
32 11.590
64 14.060
128 16.610
256 19.330
512 22.370
1024 26.040
2048 30.980
4096 38.460
EOD
$d7 << EOD
16 11.310
64 16.850
256 22.510
1024 29.120
4096 41.430
EOD
$d8 << EOD
16 7.310
64 11.550
256 16.170
1024 21.820
4096 33.040
EOD
$d9 << EOD
16 11.310
64 16.850
256 22.510
1024 28.650
4096 36.690
EOD
$d10 << EOD
16 11.640
32 14.180
64 16.660
128 19.510
256 22.530
512 25.870
1024 29.840
2048 35.080
4096 42.860
EOD
$d11 << EOD
16 9.450
32 11.590
64 14.060
128 16.610
256 19.330
512 22.370
1024 26.040
2048 30.980
4096 38.460
EOD
$d12 << EOD
16 18.040
32 33.280
64 63.760
128 124.710
256 246.630
512 490.470
1024 978.140
EOD
$d13 << EOD
16 16.640
32 33.180
64 66.860
128 134.220
256 250.030
512 481.070
1024 943.140
EOD
$d14 << EOD
16 30.740
32 61.180
64 122.060
128 243.810
256 487.330
512 974.370
1024 1948.440
EOD
$d15 << EOD
16 27.040
32 55.880
64 113.560
128 228.910
256 459.630
512 921.070
1024 1843.940
EOD
$d16 << EOD
16 22.600
32 45.000
64 89.800
128 179.400
256 358.600
512 717.000
EOD
$d17 << EOD
16 6.000
32 10.800
64 20.400
128 39.600
256 78.000
512 154.800
EOD
set terminal pngcairo noenhanced size 1000,800
set output 'coredirect-allgather-connectx2-latency.png'
plot $d0 with linespoints linecolor 1 dashtype 1 pointtype 5 title 'Bruck', $d1 with linespoints linecolor 1 dashtype 2 pointtype 7 title 'Bruck, by hosts', $d2 with linespoints linecolor 2 dashtype 1 pointtype 5 title 'Bruck, k = 3', $d3 with linespoints linecolor 2 dashtype 2 pointtype 7 title 'Bruck, k = 3, by hosts', $d4 with linespoints linecolor 3 dashtype 1 pointtype 5 title 'Bruck, k = 3, 3 ports', $d5 with linespoints linecolor 4 dashtype 1 pointtype 5 title 'standard exchange', $d6 with linespoints linecolor 4 dashtype 2 pointtype 7 title 'standard exchange, by hosts', $d7 with linespoints linecolor 5 dashtype 1 pointtype 5 title 'standard exchange, k = 3', $d8 with linespoints linecolor 5 dashtype 2 pointtype 7 title 'standard exchange, k = 3, by hosts', $d9 with linespoints linecolor 6 dashtype 1 pointtype 5 title 'standard exchange, k = 3, 3 ports', $d10 with linespoints linecolor 7 dashtype 1 pointtype 5 title 'circulant', $d11 with linespoints linecolor 7 dashtype 2 pointtype 7 title 'circulant, by hosts', $d12 with linespoints linecolor 8 dashtype 1 pointtype 5 title 'neighbor exchange', $d13 with linespoints linecolor 8 dashtype 2 pointtype 7 title 'neighbor exchange, by hosts', $d14 with linespoints linecolor 9 dashtype 1 pointtype 5 title 'ring', $d15 with linespoints linecolor 9 dashtype 2 pointtype 7 title 'ring, by hosts', $d16 with linespoints linecolor 10 dashtype 1 pointtype 5 title 'linear', $d17 with linespoints linecolor 10 dashtype 2 pointtype 7 title 'linear, by hosts'
set terminal svg noenhanced size 1000,800
set output 'coredirect-allgather-connectx2-latency.svg'
replot
unset output
