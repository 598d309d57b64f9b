import { type Finding, namesIn, type Site, textOf } from './site.ts'

type Setting = readonly [file: string, section: RegExp, why: string]

/** Where pytest itself looks for its settings. */
const SETTINGS: readonly Setting[] = [
  ['pytest.ini', /^/, 'there is a pytest.ini'],
  ['pyproject.toml', /^\[tool\.pytest\b/m, 'pyproject.toml has settings for pytest'],
  ['setup.cfg', /^\[tool:pytest\]/m, 'setup.cfg has settings for pytest'],
  ['tox.ini', /^\[pytest\]/m, 'tox.ini has settings for pytest'],
]
const TEST_FILE = /^test_.*\.py$|_test\.py$/
/** Folders in which a project keeps programs of its own. */
const ENVIRONMENTS = ['.venv', 'venv']

export function python(site: Site): Finding | null {
  const why = SETTINGS.find(setting => isSet(site, setting))?.[2] ?? filesIn(site)
  return why === null ? null : { ...runnerFor(site), why }
}

function isSet(site: Site, [file, section]: Setting): boolean {
  const text = textOf(site, file)
  return text !== null && section.test(text)
}

function filesIn(site: Site): string | null {
  const folder = ['tests', 'test', ''].find(name => namesIn(site, name).some(file => TEST_FILE.test(file)))
  if (folder === undefined) return null
  return folder === '' ? 'there are test_*.py files' : `${folder} has test_*.py files`
}

function runnerFor({ has }: Site): Pick<Finding, 'line' | 'program'> {
  const own = ENVIRONMENTS.map(name => `${name}/bin/pytest`).find(has)
  if (own !== undefined) return { line: `${own} -q`, program: own }
  const program = has('pytest') ? null : ['python3', 'python'].find(has)
  return program ? { line: `${program} -m pytest -q`, program } : { line: 'pytest -q', program: 'pytest' }
}
