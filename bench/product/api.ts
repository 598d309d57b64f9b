import http from 'node:http'

/** Makes one call to a daemon. The product's own client offers no calls that no command needs. */
export async function callApi<T>(
  socketPath: string,
  { method, path, body }: { method: 'GET' | 'POST'; path: string; body?: unknown },
): Promise<T> {
  const text = await new Promise<string>((resolve, reject) => {
    const request = http.request({ socketPath, method, path, agent: false }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
  const answer = JSON.parse(text) as T & { error?: { message: string } }
  if (answer.error !== undefined) throw new Error(`${method} ${path}: ${answer.error.message}`)
  return answer
}
