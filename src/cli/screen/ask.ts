/** Asks on stderr, because stdout is for data. Anything but a yes is a no. Only where `screen.mayAsk`. */
export async function ask(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `)
  const answer = await nextLine()
  return /^y(es)?$/i.test(answer.trim())
}

function nextLine(): Promise<string> {
  const { stdin } = process
  return new Promise(resolve => {
    const done = (text: string): void => {
      stdin.off('data', onData).off('end', onEnd)
      stdin.pause()
      resolve(text)
    }
    const onData = (chunk: Buffer): void => done(chunk.toString())
    const onEnd = (): void => done('')
    stdin.on('data', onData).on('end', onEnd).resume()
  })
}
