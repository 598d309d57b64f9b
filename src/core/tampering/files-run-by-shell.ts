/** The commands in a shell line or script that determine what it runs. */
export interface ShellCommands {
  /** Files that the line runs: `./check.sh`, `sh check.sh`, `node scripts/test.mjs`. */
  readonly files: readonly string[]
  /** Scripts of package.json, with those that npm runs before and after them. */
  readonly scripts: readonly string[]
  readonly makes: readonly MakeCall[]
}

/** `make -C folder -f file targets` */
export interface MakeCall {
  readonly folder: string
  /** Null for the makefile that make finds by itself. */
  readonly file: string | null
  /** The empty string stands for the first target of the makefile. */
  readonly targets: readonly string[]
}

/** Words before a command that are no commands themselves. */
const COMMAND_PREFIX =
  /^(?:if|then|else|elif|while|until|do|!|exec|time|command|nohup|env|sudo|[A-Za-z_]\w*=\S*|timeout(?:\s+-\S+)*\s+\S+|nice(?:\s+-n\s+\S+)?|xargs(?:\s+-\S+)*|npx|pnpx|bunx|yarn\s+exec|uv\s+run|poetry\s+run|pipenv\s+run|bundle\s+exec)\s+/
const INTERPRETERS = /^(?:ba|z|da|k)?sh$|^(?:node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|source|\.)$/
const PACKAGE_MANAGERS = /^(?:npm|pnpm|yarn|bun)$/
const SCRIPT_NAMES: Readonly<Record<string, string>> = { t: 'test', tst: 'test', 'install-test': 'test', it: 'test' }
/** A folder that only the script itself can compute: mostly its own. */
const SCRIPT_FOLDERS = [
  /\$\(\s*(?:cd|dirname)\b[^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)"?\//g,
  /"?\$\{[^{}\n]{1,100}\}"?\//g,
  /"?\$\w{1,60}"?\//g,
]
/** Nobody writes a longer line by hand. */
const MAX_LINE_LENGTH = 20_000

export function parseShellCommands(text: string): ShellCommands {
  const all = { files: [] as string[], scripts: [] as string[], makes: [] as MakeCall[] }
  const lines = text
    .replaceAll('\\\n', ' ')
    .replaceAll(/\$\(MAKE\)|\$\{MAKE\}/g, 'make')
    .split('\n')
  for (const line of lines) {
    const near = SCRIPT_FOLDERS.reduce((left, folder) => left.replaceAll(folder, './'), line.slice(0, MAX_LINE_LENGTH))
    for (const piece of near.split(/[;&|(){}`]+/)) readCommand(wordsOf(piece), all)
  }
  return all
}

function wordsOf(piece: string): string[] {
  let rest = piece.trim().replace(/^[@+-]+/, '')
  for (let next = rest.replace(COMMAND_PREFIX, ''); next !== rest; next = rest.replace(COMMAND_PREFIX, '')) rest = next
  return rest.split(/\s+/).map(word => word.replaceAll(/^["']+|["']+$/g, ''))
}

function readCommand(
  [name = '', ...words]: string[],
  all: { files: string[]; scripts: string[]; makes: MakeCall[] },
): void {
  const plain = words.filter(word => !word.startsWith('-'))
  if (PACKAGE_MANAGERS.test(name)) {
    const script = plain[0] === 'run' || plain[0] === 'run-script' ? plain[1] : plain[0]
    const known = SCRIPT_NAMES[script ?? ''] ?? script
    if (known !== undefined) all.scripts.push(known, `pre${known}`, `post${known}`)
  }
  if (name === 'run-s' || name === 'run-p' || name === 'npm-run-all') all.scripts.push(...plain)
  if (/^g?make$/.test(name)) all.makes.push(parseMakeCall(words))
  if (INTERPRETERS.test(name)) readInterpreter(name, words, all)
  else if (name.includes('/') || /\.(?:sh|bash|py|m?js|ts|rb|pl)$/.test(name)) all.files.push(name)
}

/** Parses `sh -c 'line'`, `python -m module`, `node --import ./setup.mjs run.mjs`. */
function readInterpreter(
  name: string,
  words: readonly string[],
  all: { files: string[]; scripts: string[]; makes: MakeCall[] },
): void {
  const [option = ''] = words
  if (name.endsWith('sh') && /^-\w*c$/.test(option)) return readCommand(wordsOf(words.slice(1).join(' ')), all)
  const module = words[words.indexOf('-m') + 1]
  if (name.startsWith('python') && words.includes('-m') && module !== undefined) {
    const file = module.replaceAll('.', '/')
    all.files.push(`${file}.py`, `${file}/__main__.py`)
    return
  }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const loaded = PRELOAD_OPTION.exec(word)
    if (loaded !== null) all.files.push(loaded[1] ?? words[++at] ?? '')
    else if (!word.startsWith('-')) return void all.files.push(word)
  }
}

/** Options of interpreters that name a file to run first. */
const PRELOAD_OPTION = /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--rcfile)(?:=(.*))?$/

const MAKE_OPTION = /^(?:-(C|f)|--(directory|file|makefile)(?==|$))=?(.*)$/

function parseMakeCall(words: readonly string[]): MakeCall {
  let folder = '.'
  let file: string | null = null
  const targets: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const [, short, long, value] = MAKE_OPTION.exec(word) ?? []
    const option = short ?? long
    if (option === undefined) {
      if (word !== '' && !word.startsWith('-') && !word.includes('=')) targets.push(word)
      continue
    }
    const given = value || (words[++at] ?? '')
    if (option === 'C' || option === 'directory') folder = `${folder}/${given}`
    else file = given
  }
  return { folder, file, targets: targets.length === 0 ? [''] : targets }
}
