// Draws docs/picture.svg: runs the commands below with the built program in a state folder of its own, and renders their output. It needs jq.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')

/** Each command is run by sh. A note is shown behind it. `hidden` commands are run and not shown. */
const STEPS = [
  { command: 'oneshot run --agent demo --name auth "implement the auth feature steps=6 delay=1s"' },
  { command: 'until oneshot log auth | grep -q "step 2"; do sleep 0.1; done', hidden: true },
  { command: 'kill -9 $(oneshot status auth --field pid)', note: 'the agent dies' },
  { command: 'until oneshot log auth | grep -q "attempt 2"; do sleep 0.1; done', hidden: true },
  { command: 'kill -9 $(oneshot daemon status --json | jq .pid)', note: 'so does the supervisor' },
  { command: 'oneshot wait auth && oneshot log auth', note: 'the work is finished all the same' },
]

const CELL = { width: 8.4, height: 20, size: 14 }
const MARGIN = 24
const COLUMNS = 92
/** Where notes begin, counted with the nine characters that colour the prompt. */
const NOTE_COLUMN = 62
/** SGR codes that the program prints, and the CSS class for each. */
const CLASSES = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 34: 'blue', 35: 'magenta', 36: 'cyan' }

const lines = record()
fs.writeFileSync(path.join(root, 'docs/picture.svg'), draw(lines))

function record() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-picture-'))
  const bin = path.join(folder, 'bin')
  const project = path.join(folder, 'project')
  for (const name of [bin, project]) fs.mkdirSync(name)
  const program = `#!/bin/sh\nexec '${process.execPath}' '${path.join(root, 'dist/main.cjs')}' "$@"\n`
  fs.writeFileSync(path.join(bin, 'oneshot'), program, { mode: 0o755 })
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    ONESHOT_HOME: path.join(folder, 'home'),
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    FORCE_COLOR: '1',
  }
  const run = command => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: project, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${command} exited with ${status}: ${stderr}`)
    return stdout
  }
  try {
    return STEPS.flatMap(step => {
      const output = run(step.command).trimEnd()
      return step.hidden ? [] : [prompt(step), ...(output === '' ? [] : output.split('\n'))]
    })
  } finally {
    run('oneshot killall --yes; oneshot daemon stop || true')
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function prompt({ command, note }) {
  const shown = `\u001b[32m$\u001b[0m ${command}`
  return note === undefined ? shown : `${shown.padEnd(NOTE_COLUMN)} \u001b[2m# ${note}\u001b[0m`
}

function draw(rows) {
  const width = Math.round(COLUMNS * CELL.width) + 2 * MARGIN
  const top = MARGIN + 28
  const height = top + rows.length * CELL.height + MARGIN - 8
  const text = rows.map((row, i) => {
    return `<text x="${MARGIN}" y="${top + i * CELL.height}" xml:space="preserve">${spans(row)}</text>`
  })
  const dots = [0, 1, 2].map(i => `<circle cx="${MARGIN + 6 + i * 20}" cy="22" r="5.5" class="dot"/>`).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A session that survives the death of its agent and of its supervisor</title>
<style>
  text { font: ${CELL.size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f }
  .frame { fill: #fafaf8; stroke: #d8d8d2 } .dot { fill: #d8d8d2 } .bold { font-weight: 600 } .dim { fill: #6e7781 }
  .red { fill: #b3261e } .green { fill: #1a7f37 } .yellow { fill: #8a6100 } .blue { fill: #0a58b5 } .magenta { fill: #8250df } .cyan { fill: #0b7285 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d0d7de } .frame { fill: #161b22; stroke: #30363d } .dot { fill: #30363d } .dim { fill: #8b949e }
    .red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #76e3ea }
  }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" class="frame"/>${dots}
${text.join('\n')}
</svg>
`
}

/** A line with SGR sequences as text and tspan elements. */
function spans(line) {
  const parts = line.split(/\u001b\[(\d*)m/)
  return parts.map((part, i) => (i % 2 === 1 ? '' : span(part, CLASSES[parts[i - 1]]))).join('')
}

function span(text, style) {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return style === undefined || text === '' ? escaped : `<tspan class="${style}">${escaped}</tspan>`
}
