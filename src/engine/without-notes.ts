/** What the agent said and did; what we noted between its words is of no use to it. */
export function withoutNotes(transcript: string): string {
  const lines = transcript.split('\n').filter(line => !line.startsWith('── '))
  return lines.join('\n').trim()
}
