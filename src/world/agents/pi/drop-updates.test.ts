import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../../testkit/agents/temp-folder.ts'

const thin = path.join(import.meta.dirname, 'drop-updates.cjs')
const { thinner } = createRequire(import.meta.url)(thin) as {
  thinner: (now: () => number) => { take: (bytes: Buffer) => Buffer; rest: () => Buffer }
}

const update = '{"type":"message_update","message":{"text":"größer"}}\n'
const progress = '{"type":"tool_execution_update","partialResult":{}}\n'
const lines = fc.constantFrom(
  update,
  progress,
  '{"type":"message_end","message":"größer"}\n',
  '{"type":"message_updated"}\n',
  '{"type":"me\n',
  '\n',
  'what an extension prints',
  ' {"type":"message_update"}\n',
)

test('the filter drops repeated events, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(fc.array(lines), fc.array(fc.nat(40)), (output, cuts) => {
      const all = Buffer.from(output.join(''))
      const { take, rest } = thinner(() => 0)
      const written = Buffer.concat([...pieces(all, cuts).map(take), rest()]).toString()
      const kept = output.join('').replace(/^\{"type":"(?:message|tool_execution)_update",.*(?:\n|$)/gm, '')
      expect(written.replace(/^\{"type":"message_update"\}\n/m, '')).toBe(kept)
    }),
  )
})

test('the filter keeps one sign of life in five seconds', () => {
  let now = 0
  const { take } = thinner(() => now)
  const written = [0, 1000, 4999, 5000, 5001, 12_000].map(at => {
    now = at
    return take(Buffer.from(at % 2 === 0 ? update : progress)).toString()
  })
  const sign = '{"type":"message_update"}\n'
  expect(written).toEqual([sign, '', '', sign, '', sign])
})

test('in a real program the filter leaves callbacks, order, the last output and child processes unchanged', () => {
  const folder = tempFolder()
  fs.writeFileSync(
    path.join(folder, 'program.mjs'),
    `import { fork } from 'node:child_process'
     import { Worker } from 'node:worker_threads'
     const update = ${JSON.stringify(update)}
     const write = process.stdout.write.bind(process.stdout)
     const written = text => new Promise(done => write(text, done))
     if (process.argv[2] === 'child') {
       await written(update)
     } else {
       await written(update + update)
       await written('{"type":"one"}\\n' + update)
       write(Buffer.from('{"type":"two"}\\n'))
       console.error(JSON.stringify([write(update), process.execArgv, process.argv.slice(2)]))
       await new Promise(done => fork(process.argv[1], ['child']).on('exit', done))
       await new Promise(done => new Worker('process.stdout.write(\`{"type":"message_update","w":1}\\n\`)', { eval: true }).on('exit', done))
       await written('')
       write('{"type":"mess')
     }`,
  )
  const file = path.join(folder, 'stdout')
  const stdout = fs.openSync(file, 'w')
  const program = [path.join(folder, 'program.mjs'), 'word']
  const { status, stderr } = spawnSync(process.execPath, ['--require', thin, ...program], {
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
  })
  fs.closeSync(stdout)
  expect({ status, stderr }).toEqual({ status: 0, stderr: `${JSON.stringify([true, [], ['word']])}\n` })
  const sign = '{"type":"message_update"}\n'
  expect(fs.readFileSync(file, 'utf8')).toBe(`${sign}{"type":"one"}\n{"type":"two"}\n${update}{"type":"mess`)
})

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  let from = 0
  const cut = cuts.map(length => bytes.subarray(from, (from += length)))
  return [...cut, bytes.subarray(from)]
}
