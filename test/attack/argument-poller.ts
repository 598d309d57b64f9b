/** A perl program that reads all argument lists in a loop and prints each that contains one of the words. */
export const ARGUMENT_POLLER = `
$| = 1;
my @words = map { quotemeta } @ARGV;
my $pattern = join '|', @words;
print "ready\\n";
while (1) {
  opendir my $proc, '/proc';
  for my $pid (sort { $b <=> $a } grep { /^\\d+$/ && $_ != $$ } readdir $proc) {
    open my $file, '<', "/proc/$pid/cmdline" or next;
    local $/; my $line = <$file>; next unless defined $line && $line =~ /$pattern/;
    $line =~ s/[\\0\\n]/ /g; print "$pid $line\\n";
  }
}`
