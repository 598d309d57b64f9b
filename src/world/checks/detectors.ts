import fs from 'node:fs'
import path from 'node:path'
import { anything, isObject, object, tryParseJson } from '../../lib/codec.ts'
import { readPart } from '../../os/files/file-io.ts'

/** A folder that may contain a check. */
export interface ProjectFolder {
  readonly folder: string
  /** The top of the repository; the folder itself if there is none. */
  readonly top: string
  /** Returns true if a program is on PATH or, with a slash in its name, in the folder. */
  readonly has: (program: string) => boolean
}

export interface DetectedCheck {
  readonly line: string
  readonly why: string
  /** The program that the line needs. */
  readonly program: string
}

/** Bytes; nobody writes a longer file of this kind by hand. */
const MAX_FILE_SIZE = 1_048_576

/** Returns the text of a project file; null if it is missing or unreadable. */
function readText({ folder }: ProjectFolder, name: string): string | null {
  const file = path.join(folder, name)
  try {
    return fs.statSync(file).isFile() ? readPart(file, 0, MAX_FILE_SIZE).toString() : null
  } catch {
    return null // The file is missing or unreadable, and proves nothing.
  }
}

/** Returns the names in a project folder; none if it does not exist. */
function listNames({ folder }: ProjectFolder, name: string): string[] {
  try {
    return fs.readdirSync(path.join(folder, name))
  } catch {
    return [] // The folder is missing, or it is a file.
  }
}

/** The lock file shows which package manager installs the packages; the same one runs the script. */
const LOCK_FILES: readonly (readonly [file: string, program: PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
]

/** `bun test` does not run the script but bun's own test runner. */
const TEST_COMMANDS = { npm: 'npm test', pnpm: 'pnpm test', yarn: 'yarn test', bun: 'bun run test' } as const

type PackageManager = keyof typeof TEST_COMMANDS

/** The script that `npm init` writes exits with 1 and tests nothing. */
const PLACEHOLDER_SCRIPT = /no test specified/

export function detectNode(project: ProjectFolder): DetectedCheck | null {
  const manifest = parseManifest(readText(project, 'package.json'))
  const script = isObject(manifest?.scripts) ? manifest.scripts['test'] : undefined
  if (typeof script !== 'string' || script.trim() === '' || PLACEHOLDER_SCRIPT.test(script)) return null
  const program = declaredPackageManager(manifest?.packageManager) ?? lockFilePackageManager(project) ?? 'npm'
  return { line: TEST_COMMANDS[program], why: 'package.json has a test script', program }
}

const manifestFields = object({ scripts: anything, packageManager: anything })

/** Returns null while somebody writes the file, and for an invalid one: npm could not read it either. */
function parseManifest(text: string | null): ReturnType<typeof manifestFields> | null {
  return text === null ? null : tryParseJson(text, manifestFields)
}

/** Parses `pnpm@9.1.0`. */
function declaredPackageManager(packageManager: unknown): PackageManager | undefined {
  const name = typeof packageManager === 'string' ? packageManager.split('@')[0] : undefined
  return name !== undefined && Object.hasOwn(TEST_COMMANDS, name) ? (name as PackageManager) : undefined
}

/** Finds the nearest lock file, up to the top: a workspace has one for all its packages. */
function lockFilePackageManager({ folder, top }: ProjectFolder): PackageManager | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const lock = LOCK_FILES.find(([file]) => fs.existsSync(path.join(at, file)))
    if (lock !== undefined) return lock[1]
    if (at === top || at === path.dirname(at)) return undefined
  }
}

type PytestSetting = readonly [file: string, section: RegExp, why: string]

/** The files in which pytest itself looks for its settings. */
const PYTEST_SETTINGS: readonly PytestSetting[] = [
  ['pytest.ini', /^/, 'there is a pytest.ini'],
  ['pyproject.toml', /^\[tool\.pytest\b/m, 'pyproject.toml has settings for pytest'],
  ['setup.cfg', /^\[tool:pytest\]/m, 'setup.cfg has settings for pytest'],
  ['tox.ini', /^\[pytest\]/m, 'tox.ini has settings for pytest'],
]
const TEST_FILE = /^test_.*\.py$|_test\.py$/
/** Folders in which a project keeps its own programs. */
const VIRTUAL_ENVS = ['.venv', 'venv']

export function detectPython(project: ProjectFolder): DetectedCheck | null {
  const why = PYTEST_SETTINGS.find(setting => hasSetting(project, setting))?.[2] ?? findTestFiles(project)
  return why === null ? null : { ...pytestCommand(project), why }
}

function hasSetting(project: ProjectFolder, [file, section]: PytestSetting): boolean {
  const text = readText(project, file)
  return text !== null && section.test(text)
}

function findTestFiles(project: ProjectFolder): string | null {
  const folder = ['tests', 'test', ''].find(name => listNames(project, name).some(file => TEST_FILE.test(file)))
  if (folder === undefined) return null
  return folder === '' ? 'there are test_*.py files' : `${folder} has test_*.py files`
}

function pytestCommand({ has }: ProjectFolder): Pick<DetectedCheck, 'line' | 'program'> {
  const own = VIRTUAL_ENVS.map(name => `${name}/bin/pytest`).find(has)
  if (own !== undefined) return { line: `${own} -q`, program: own }
  const program = has('pytest') ? null : ['python3', 'python'].find(has)
  return program ? { line: `${program} -m pytest -q`, program } : { line: 'pytest -q', program: 'pytest' }
}

export function detectCargo(project: ProjectFolder): DetectedCheck | null {
  if (readText(project, 'Cargo.toml') === null) return null
  return { line: 'cargo test', why: 'there is a Cargo.toml', program: 'cargo' }
}

/** Even without a test, it shows if everything compiles. */
export function detectGo(project: ProjectFolder): DetectedCheck | null {
  if (readText(project, 'go.mod') === null) return null
  return { line: 'go test ./...', why: 'there is a go.mod', program: 'go' }
}

/** In the search order of GNU make. */
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

export function detectMake(project: ProjectFolder): DetectedCheck | null {
  const name = MAKEFILES.find(file => readText(project, file) !== null)
  if (name === undefined || !(readText(project, name) ?? '').split('\n').some(isTestRule)) return null
  return { line: 'make test', why: `${name} has a test target`, program: 'make' }
}

/** Returns true for a rule whose targets include `test`; not for an assignment, a recipe or a comment. */
function isTestRule(line: string): boolean {
  const end = line.search(/[#:=]/)
  if (end < 0 || line[end] !== ':' || /^\s/.test(line) || /^:{1,3}=/.test(line.slice(end, end + 4))) return false
  return line.slice(0, end).split(/[ \t]/).includes('test')
}
