// Tests with the real agent programs against a scripted model on this machine:
// npm run test:agents [-- [--quick] [PROGRAM …] [FILE …]]. A PROGRAM is a name in test/agents/versions.json.
// The script installs the pinned programs once, outside the project; the tests need no account and no key.
import { cache, installAgents, programs } from './install-agents.mjs'
import { install, report, runSteps, vitest } from './steps.mjs'

const words = process.argv.slice(2).filter(word => word !== '--quick')
const isName = (word, place) => word in programs && !words[place - 1]?.startsWith('-')
const chosen = words.filter(isName)
const filters = words.filter((word, place) => !isName(word, place))

install()
try {
  await installAgents(chosen.length === 0 ? Object.keys(programs) : chosen)
} catch (cause) {
  process.stderr.write(`${cause.message}\n`)
  process.exit(1)
}
await runSteps(['build'])
const env = {
  ...process.env,
  ONESHOT_AGENTS_CACHE: cache,
  ...(chosen.length > 0 && { ONESHOT_AGENTS: chosen.join(',') }),
  ...(process.argv.includes('--quick') && { ONESHOT_AGENTS_QUICK: '1' }),
}
report(await vitest(['agents'], filters, { env }))
