import { matchesGlob } from '../../lib/text/glob.ts'
import { describe, expect, it } from 'vitest'
import { detectTampering } from './detect-tampering.ts'
import type { EditedFile } from './test-file.ts'

const JS =
  "import { it } from 'vitest'\nit('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\nit('subtracts', () => expect(sub(2, 1)).toBe(1))\n"
const PY =
  'import pytest\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\nclass TestMore:\n    def test_more(self):\n        assert more()\n'
const GO = 'package a\n\nfunc TestAdds(t *testing.T) {\n\tif add(1, 2) != 3 { t.Fatal() }\n}\n'
const RS = '#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n}\n'
const JAVA = 'class AddTest {\n  @Test\n  void adds() { assertEquals(3, add(1, 2)); }\n}\n'
const SH = '#!/bin/sh\ntest "$(./add 1 2)" = 3\n'

const change = (path: string, before: string | null, after: string | null): EditedFile => ({ path, before, after })
const NOTHING = { check: null, protect: [], allow: [] }
const refused = (...changes: EditedFile[]): readonly string[] => detectTampering(changes, NOTHING, () => null).refused

describe('detectTampering finds tests that no longer run', () => {
  const cases: readonly (readonly [string, ...EditedFile[]])[] = [
    ['deleted', change('src/a.test.ts', JS, null)],
    ['deleted, in a folder that only a script reads', change('tests/a.sh', SH, null)],
    ['emptied', change('src/a.test.ts', JS, '')],
    ['emptied except for a comment', change('tests/a.sh', SH, '#!/bin/sh\n# nothing\n')],
    ['renamed to a name that the runner ignores', change('src/a.test.ts', JS, null), change('src/a.ts.bak', null, JS)],
    ['renamed within the test folder', change('tests/a.test.js', JS, null), change('tests/a.js', null, JS)],
    ['renamed to a name that a script ignores', change('tests/a.sh', SH, null), change('tests/a.sh.bak', null, SH)],
    ['one of two removed', change('a.test.ts', JS, JS.replace(/it\('adds'[^]*?\}\)\n/, ''))],
    ['commented out by lines', change('a.test.ts', JS, JS.replaceAll(/^it/gm, '// it'))],
    ['commented out as a block', change('a.test.ts', JS, JS.replace("it('adds'", "/* it('adds'").concat('*/'))],
    ['wrapped in a string', change('a.test.ts', JS, `const old = \`\n${JS}\n\``)],
    ['.skip', change('a.test.ts', JS, JS.replace("it('adds'", "it.skip('adds'"))],
    ['.todo', change('a.test.ts', JS, JS.replace("it('adds'", "it.todo('adds'"))],
    ['xit', change('a.test.ts', JS, JS.replace("it('adds'", "xit('adds'"))],
    ['.only', change('a.test.ts', JS, JS.replace("it('adds'", "it.only('adds'"))],
    ['skip as an option', change('a.test.ts', JS, JS.replace("'adds',", "'adds', { skip: true },"))],
    ['a group', change('a.test.ts', JS, `describe.skip('all', () => {\n${JS}\n})`)],
    ['never', change('a.test.ts', JS, `if (false) {\n${JS}\n}`)],
    ['an empty body', change('a.test.ts', JS, JS.replace(/=> \{[^]*?\}\)/, '=> {})'))],
    ['no body', change('a.test.ts', JS, JS.replace(/, \(\) => \{[^]*?\}\)/, ')'))],
    ['an early end', change('a.test.ts', JS, `process.exit(0)\n${JS}`)],
    ['an early end in a new file', change('test/setup.ts', null, 'process.exit()\n')],
    [
      'moved, and skipped there',
      change('a.test.ts', JS, null),
      change('b.test.ts', null, `describe.skip('x', () => {\n${JS}})`),
    ],
    ['pytest: skip', change('test_a.py', PY, PY.replace('def test_adds', '@pytest.mark.skip\ndef test_adds'))],
    [
      'pytest: xfail',
      change('test_a.py', PY, PY.replace('    def test_more', '    @pytest.mark.xfail(run=False)\n    def test_more')),
    ],
    ['pytest: whole file', change('test_a.py', PY, `${PY}\npytestmark = pytest.mark.skip\n`)],
    ['pytest: pass', change('test_a.py', PY, PY.replace('    assert add(1, 2) == 3', '    pass'))],
    ['pytest: another name', change('test_a.py', PY, PY.replace('def test_adds', 'def check_adds'))],
    ['pytest: conftest', change('conftest.py', null, 'collect_ignore = ["test_a.py"]\n')],
    ['pytest: in a string', change('test_a.py', PY, `"""\n${PY}\n"""\n`)],
    [
      'pytest: renamed to a name that pytest ignores',
      change('tests/test_a.py', PY, null),
      change('tests/a.py', null, PY),
    ],
    ['go: skip', change('a_test.go', GO, GO.replace('\tif', '\tt.Skip()\n\tif'))],
    ['go: excluded from the build', change('a_test.go', GO, `//go:build never\n\n${GO}`)],
    ['go: TestMain', change('main_test.go', null, 'package a\nfunc TestMain(m *testing.M) { os.Exit(0) }\n')],
    ['rust: ignore', change('src/lib.rs', RS, RS.replace('#[test]', '#[test]\n    #[ignore]'))],
    ['rust: no test', change('src/lib.rs', RS, RS.replace('    #[test]\n', ''))],
    ['java: disabled', change('src/AddTest.java', JAVA, JAVA.replace('@Test', '@Disabled @Test'))],
    ['java: no test', change('src/AddTest.java', JAVA, JAVA.replace('@Test\n', ''))],
    ['returns at once', change('a.test.ts', JS, JS.replace('() => {\n', '() => {\n  return\n'))],
    [
      'returns at once, for all tests',
      change('a.test.js', `describe('x', () => {\n${JS}})`, `describe('x', () => {\n  return;\n${JS}})`),
    ],
    [
      'a condition that always holds',
      change('a.test.ts', JS, JS.replace('() => {\n', '() => {\n  if (true) return\n')),
    ],
    ['skipped by a name in brackets', change('a.test.ts', JS, JS.replace("it('adds'", "it['skip']('adds'"))],
    ['only, by a name in brackets', change('a.test.ts', JS, JS.replace("it('adds'", 'it["only"](\'adds\''))],
    ['todo as an option', change('a.test.ts', JS, JS.replace("'adds',", "'adds', { todo: true },"))],
    ['no assertion left', change('a.test.ts', JS, JS.replace('expect(add(1, 2)).toBe(3)', 'add(1, 2)'))],
    [
      'an assertion that is always true',
      change('a.test.ts', JS, JS.replace('expect(add(1, 2)).toBe(3)', 'expect(true).toBe(true)')),
    ],
    ['moved into a hidden folder', change('src/a.test.ts', JS, null), change('src/.old/a.test.ts', null, JS)],
    ['moved into the output of a build', change('src/a.test.ts', JS, null), change('dist/a.test.ts', null, JS)],
    [
      'unittest: skip',
      change('test_a.py', PY, PY.replace('    def test_more', '    @unittest.skip("later")\n    def test_more')),
    ],
    [
      'unittest: skip over several lines',
      change(
        'test_a.py',
        PY,
        PY.replace(
          '    def test_more',
          '    @unittest.skipIf(\n        True,\n        "later",\n    )\n    def test_more',
        ),
      ),
    ],
    ['pytest: returns at once', change('test_a.py', PY, PY.replace('    assert add', '    return\n    assert add'))],
    ['pytest: no assertion left', change('test_a.py', PY, PY.replace('    assert add(1, 2) == 3', '    add(1, 2)'))],
    ['pytest: the class is not collected', change('test_a.py', PY, PY.replace('class TestMore', 'class More'))],
    ['pytest: SystemExit', change('test_a.py', PY, `raise SystemExit\n${PY}`)],
    [
      'pytest: os._exit when it ends',
      change('conftest.py', null, 'import atexit, os\natexit.register(lambda: os._exit(0))\n'),
    ],
    ['pytest: a hook in conftest', change('conftest.py', '', 'def pytest_pyfunc_call(pyfuncitem):\n    return True\n')],
    ['go: TestMain that runs nothing', change('main_test.go', null, 'package a\nfunc TestMain(m *testing.M) {\n}\n')],
    ['go: returns at once', change('a_test.go', GO, GO.replace('\tif', '\treturn\n\tif'))],
    [
      'rust: ignored by an attribute',
      change('src/lib.rs', RS, RS.replace('#[test]', '#[test]\n    #[cfg_attr(all(), ignore)]')),
    ],
    ['rust: not for tests', change('src/lib.rs', RS, RS.replace('#[cfg(test)]', '#[cfg(feature = "slow")]'))],
    ['sh: only echo commands', change('tests/a.sh', SH, '#!/bin/sh\nset -e\necho ok\n')],
    ['sh: an ignored failure', change('tests/a.sh', SH, SH.replace('= 3', '= 3 || true'))],
    ['sh: an early end', change('tests/a.sh', SH, SH.replace('test "', 'exit 0\ntest "'))],
  ]
  for (const [name, ...changes] of cases) it(name, () => expect(refused(...changes)).not.toEqual([]))
})

describe('detectTampering accepts work that keeps its tests', () => {
  const cases: readonly (readonly [string, ...EditedFile[]])[] = [
    ['an added test', change('a.test.ts', JS, `${JS}it('more', () => expect(2).toBe(2))\n`)],
    ['a new test file', change('b.test.ts', null, JS)],
    ['a changed title', change('a.test.ts', JS, JS.replace("'adds'", "'adds numbers'"))],
    ['a changed body', change('a.test.ts', JS, JS.replace('toBe(3)', 'toEqual(3)'))],
    ['a renamed test file', change('a.test.ts', JS, null), change('src/b.test.ts', null, JS)],
    ['a moved fixture', change('tests/data/a.json', '{}', null), change('tests/data/b.json', null, '{}')],
    [
      'tests split into two files',
      change('a.test.ts', JS, JS.replace(/it\('adds'[^]*?\}\)\n/, '')),
      change('b.test.ts', null, JS.replace(/it\('sub.*\n/, '')),
    ],
    [
      'a test rewritten with its feature',
      change('a.test.ts', JS, JS.replace('expect(add(1, 2)).toBe(3)', 'expect(sum([1, 2])).toBe(3)')),
    ],
    [
      'a callback that returns at once',
      change('a.test.ts', JS, JS.replace('toBe(3)', 'toBe(3)\n  run(() => { return })')),
    ],
    [
      'an assertion moved into a helper',
      change('test_a.py', PY, PY.replace('assert add(1, 2) == 3', 'check_sum(1, 2, 3)')),
    ],
    ['an ignored failure of the cleanup', change('tests/a.sh', SH, `${SH}rm -f x || true\n`)],
    ['a renamed test class', change('test_a.py', PY, PY.replace('class TestMore', 'class TestEvenMore'))],
    ['a deleted snapshot', change('src/__snapshots__/a.test.ts.snap', 'x', null)],
    ['a new skipped test', change('a.test.ts', JS, `${JS}it.skip('later', () => {})\n`)],
    ['a comment about skip', change('a.test.ts', JS, `// describe.skip is not used here\n${JS}`)],
    ['a new python test', change('test_a.py', PY, `${PY}\ndef test_new():\n    assert new()\n`)],
    ['changed code', change('src/a.ts', 'process.exit(1)', 'process.exit(0)')],
    ['rust code beside tests', change('src/lib.rs', RS, `fn more() {}\n${RS}`)],
    ['a quote in a regular expression', change('a.test.ts', JS, `const quote = /["'/]/\n${JS}`)],
  ]
  for (const [name, ...changes] of cases) it(name, () => expect(refused(...changes)).toEqual([]))
})

const MANIFEST = JSON.stringify({
  name: 'a',
  scripts: { test: 'npm run unit && vitest run', unit: 'node scripts/unit.mjs', dev: 'vite' },
})
const WORKSPACE = '[workspace]\nmembers = [\n  "crates/a", "crates/b", "crates/c"\n]\n'
const POM = '<project>\n<modules>\n<module>a</module>\n<module>b</module>\n</modules>\n</project>\n'
const MAKE =
  'FLAGS = -q\n\nall: build\n\nbuild:\n\tcc a.c\n\ntest: build lint\n\t./check.sh $(FLAGS)\n\nlint:\n\teslint .\n'
const FILES: Readonly<Record<string, string>> = {
  'package.json': MANIFEST,
  Makefile: MAKE,
  'check.sh': '#!/bin/sh\nset -e\nsh scripts/deep.sh\ngrep -q x src/a.c\n',
  '.github/workflows/ci.yml': 'run: npm test\n',
  'ci/run.sh':
    '#!/bin/bash\n. "$(dirname "$0")/lib.sh"\nsource "${BASH_SOURCE%/*}/more.sh"\n"$HERE"/last.sh\nsh -c "ci/inner"\n',
  'ci/inner': '#!/bin/sh\nnode --import ./hook.mjs runner.mjs src/a.c\npython3 -m tools.check\n',
  'deep/GNUmakefile':
    'include rules.mk\n-include *.mk conf/$(NAME).inc\nCC = cc\n\ntest: a.o\n\t$(MAKE) -C sub check\n',
  'deep/rules.mk': 'sinclude more/deep.make\n',
  'globbed/Makefile': 'include mk/*.mk\ninclude $(sort $(wildcard more/*.mk))\ninclude $(ALL)\n',
  'globbed/mk/unit.mk': 'test:\n\t./unit.sh\n',
  'globbed/more/lint.mk': 'test: lint\n\nlint:\n\t./lint.sh\n',
  'deep/sub/Makefile': 'check:\n\t./run\n',
  'vitest.config.ts':
    "import base from './vitest.base'\nexport default { test: { setupFiles: ['./setup.ts'], coverage: { exclude: ['src/b.ts'] } } }\n",
}
const READ = Object.assign((path: string): string | null => FILES[path] ?? null, {
  matching: (pattern: string): string[] => Object.keys(FILES).filter(file => matchesGlob(file, pattern)),
})
const refusedBy = (line: string, ...changes: EditedFile[]): readonly string[] =>
  detectTampering(changes, { ...NOTHING, check: { line, folder: '', top: '/home/me/project' } }, READ).refused
const manifest = (scripts: object, more: object = {}): string => JSON.stringify({ name: 'a', scripts, ...more })

describe('detectTampering finds a changed check', () => {
  const scripts = { test: 'npm run unit && vitest run', unit: 'node scripts/unit.mjs', dev: 'vite' }
  const cases: readonly (readonly [string, string, EditedFile])[] = [
    ['its script', 'npm test', change('package.json', MANIFEST, manifest({ ...scripts, test: 'true' }))],
    [
      'a script that its script runs',
      'npm test',
      change('package.json', MANIFEST, manifest({ ...scripts, unit: 'true' })),
    ],
    [
      'a script before it',
      'npm test',
      change('package.json', MANIFEST, manifest({ ...scripts, pretest: 'rm -r src' })),
    ],
    [
      'settings in package.json',
      'npm test',
      change('package.json', MANIFEST, manifest(scripts, { vitest: { include: [] } })),
    ],
    ['a deleted package.json', 'npm test', change('package.json', MANIFEST, null)],
    ['the shell of npm', 'npm test', change('.npmrc', null, 'script-shell=/bin/true\n')],
    ['a program that a script runs', 'npm test', change('scripts/unit.mjs', 'test()', '')],
    [
      'settings of the runner',
      'npm test',
      change('vitest.config.ts', null, 'export default { test: { exclude: ["**"] } }'),
    ],
    ['the named file', 'sh check.sh', change('check.sh', 'npm test', 'exit 0')],
    ['the named file, with a path', 'FOO=1 ./check.sh --all', change('check.sh', 'npm test', 'exit 0')],
    ['a script of that script', 'sh check.sh', change('scripts/deep.sh', 'npm test', 'true')],
    ['a target', 'make test', change('Makefile', MAKE, MAKE.replace('./check.sh $(FLAGS)', 'true'))],
    ['a prerequisite of a target', 'make test', change('Makefile', MAKE, MAKE.replace('eslint .', 'true'))],
    ['a variable', 'make test', change('Makefile', MAKE, MAKE.replace('FLAGS = -q', 'FLAGS = || true'))],
    ['a rule that ignores all errors', 'make test', change('Makefile', MAKE, `.IGNORE:\n${MAKE}`)],
    ['a script of a target', 'make test', change('check.sh', 'x', '')],
    ['another makefile', 'make test', change('GNUmakefile', null, 'test:\n\ttrue\n')],
    [
      'pytest',
      'pytest -q',
      change('pyproject.toml', '[project]\n', '[project]\n[tool.pytest.ini_options]\naddopts = "--co"\n'),
    ],
    ['a module of the same name', 'python3 -m pytest -q', change('pytest.py', null, '')],
    ['cargo', 'cargo test', change('Cargo.toml', '[lib]\n', '[lib]\ntest = false\n')],
    ['CI', 'npm test', change('.github/workflows/ci.yml', 'run: npm test\n', 'run: true\n')],
    ['a script beside that script', 'sh ci/run.sh', change('ci/lib.sh', 'x', 'y')],
    ['a sourced script', 'bash ci/run.sh', change('ci/more.sh', 'x', 'y')],
    ['a script in a folder that a variable names', 'ci/run.sh', change('ci/last.sh', 'x', 'y')],
    ['a script by its whole path', 'sh /home/me/project/check.sh', change('check.sh', 'x', 'y')],
    ['a script in an argument of a shell', 'ci/run.sh', change('ci/inner', 'x', 'y')],
    ['a module that node loads first', 'ci/run.sh', change('hook.mjs', null, 'process.exit(0)')],
    ['a program for node', 'ci/run.sh', change('runner.mjs', 'x', 'y')],
    ['a module of python', 'ci/run.sh', change('tools/check.py', 'x', 'y')],
    ['an included makefile', 'make -C deep test', change('deep/rules.mk', '', 'test:\n\ttrue\n')],
    ['a makefile that a pattern includes', 'make -C deep test', change('deep/zz.mk', null, 'test:\n\ttrue\n')],
    ['a script of a makefile that a pattern includes', 'make -C globbed test', change('globbed/unit.sh', 'x', 'true')],
    [
      'a script of a makefile that $(wildcard) includes',
      'make -C globbed test',
      change('globbed/lint.sh', 'x', 'true'),
    ],
    [
      'a makefile whose name contains a variable',
      'make -C deep test',
      change('deep/conf/a.inc', null, 'SHELL = true\n'),
    ],
    [
      'a makefile that an included one includes',
      'make -C deep test',
      change('deep/more/deep.make', null, 'MAKEFLAGS = -i\n'),
    ],
    [
      'a makefile of another folder',
      'make -C deep test',
      change('deep/sub/Makefile', 'check:\n\t./run\n', 'check:\n\ttrue\n'),
    ],
    ['a named makefile', 'make -f ci.mk test', change('ci.mk', 'test:\n\t./run\n', 'test:\n\ttrue\n')],
    ['a pattern rule', 'make x.check', change('Makefile', '%.check:\n\t./run $*\n', '%.check:\n\ttrue\n')],
    [
      'settings in package.json for npx',
      'npx jest',
      change('package.json', MANIFEST, manifest(scripts, { jest: { testPathIgnorePatterns: ['.'] } })),
    ],
    [
      'a runner from elsewhere',
      'npm test',
      change('package.json', MANIFEST, manifest(scripts, { devDependencies: { vitest: 'file:./fake' } })),
    ],
    ['a file that settings name', 'npx vitest run', change('setup.ts', 'x', 'process.exit(0)')],
    ['settings that other settings import', 'npx vitest run', change('vitest.base.ts', 'x', 'y')],
    ['pytest by a key with dots', 'pytest', change('pyproject.toml', '', 'tool.pytest.ini_options.addopts = "--co"\n')],
    ['pytest with blanks', 'pytest', change('pyproject.toml', '', '  [tool.pytest.ini_options]\n  addopts = "--co"\n')],
    ['a package of the same name', 'pytest', change('pytest/__init__.py', null, '')],
    ['an alias of cargo', 'cargo test', change('.cargo/config.toml', null, '[alias]\ntest = "version"\n')],
    ['a removed crate', 'cargo test', change('Cargo.toml', WORKSPACE, WORKSPACE.replace('"crates/b", ', ''))],
    ['a toolchain of its own', 'cargo test', change('rust-toolchain.toml', null, '[toolchain]\npath = "./tc"\n')],
    ['options of maven', 'mvn -q test', change('.mvn/maven.config', null, '-DskipTests\n')],
    [
      'the folder of tests of maven',
      'mvn test',
      change('pom.xml', POM, `${POM}<testSourceDirectory>x</testSourceDirectory>`),
    ],
    ['a removed module of maven', 'mvn test', change('pom.xml', POM, POM.replace('<module>b</module>', ''))],
    ['a removed project of gradle', './gradlew test', change('settings.gradle', "include 'a', 'b'\n", "include 'a'\n")],
    ['another gradle', './gradlew test', change('gradle/wrapper/gradle-wrapper.properties', 'a', 'b')],
    [
      'tasks of gradle without actions',
      './gradlew test',
      change('build.gradle', '', 'allTasks.each { it.actions.clear() }'),
    ],
    ['an alias of mix', 'mix test', change('mix.exs', 'aliases: []', 'aliases: [test: fn _ -> :ok end]')],
    ['presets of cmake', 'cmake --build b && ctest', change('CMakePresets.json', null, '{}')],
    ['options of bazel', 'bazel test //...', change('.bazelrc', null, 'test --test_tag_filters=none\n')],
    ['properties of dotnet', 'dotnet test', change('Directory.Build.props', null, '<Project/>')],
    ['a task of rake', 'bundle exec rake test', change('lib/tasks/a.rake', null, 'Rake::Task["test"].clear')],
    ['the path of bundler', 'bundle exec rspec', change('.bundle/config', null, 'BUNDLE_PATH: ./evil\n')],
    ['a transform of jest', 'npx jest', change('babel.config.js', null, 'process.exit(0)')],
    ['options of node', 'node --test', change('node.config.json', null, '{}')],
    ['tox', 'tox', change('tox.toml', null, 'x')],
    ['sbt', 'sbt test', change('build.sbt', '', 'test := {}')],
    ['swift', 'swift test', change('Package.swift', '.testTarget(name: "A")', '')],
    ['a replaced module', 'go test ./...', change('go.mod', 'module a\n', 'module a\nreplace testing => ./fake\n')],
    ['a vendored module', 'go test ./...', change('vendor/x/assert.go', 'x', 'y')],
    ['variables for node', 'node --env-file=.env check.mjs', change('.env', 'A=1', 'NODE_OPTIONS=--import=./x.mjs')],
    ['a check in another folder', 'cd .. && npm test', change('package.json', MANIFEST, manifest({ test: 'true' }))],
  ]
  for (const [name, line, one] of cases) it(name, () => expect(refusedBy(line, one)).not.toEqual([]))
})

describe('detectTampering accepts an unchanged check', () => {
  const cases: readonly (readonly [string, string, EditedFile])[] = [
    ['another script', 'npm test', change('package.json', MANIFEST, MANIFEST.replace('"vite"', '"vite --open"'))],
    [
      'a dependency',
      'npm test',
      change('package.json', MANIFEST, manifest(JSON.parse(MANIFEST).scripts, { dependencies: { zod: '1' } })),
    ],
    ['another target', 'make test', change('Makefile', MAKE, `${MAKE}\nclean:\n\trm -r out\n`)],
    ['a comment', 'make test', change('Makefile', MAKE, `# more\n${MAKE}`)],
    ['a source that the check reads', 'sh check.sh', change('src/a.c', 'x', 'xx')],
    ['settings of another tool', 'make test', change('vitest.config.ts', null, 'x')],
    ['a project of its own', 'npm test', change('packages/b/package.json', null, manifest({ test: 'vitest' }))],
    ['a makefile elsewhere', 'make test', change('docs/Makefile', null, 'test:\n\ttrue\n')],
    [
      'a source in a makefile',
      'make -C deep test',
      change(
        'deep/GNUmakefile',
        FILES['deep/GNUmakefile'] ?? '',
        (FILES['deep/GNUmakefile'] ?? '').replace('a.o', 'a.o b.o'),
      ),
    ],
    ['an included makefile for another target', 'make -C deep test', change('deep/rules.mk', '', 'docs:\n\ttrue\n')],
    ['a new crate', 'cargo test', change('Cargo.toml', WORKSPACE, WORKSPACE.replace(']', ', "crates/d"]'))],
    [
      'a new module of maven',
      'mvn test',
      change('pom.xml', POM, POM.replace('</modules>', '<module>c</module></modules>')),
    ],
    ['a new project of gradle', './gradlew test', change('settings.gradle', "include 'a'\n", "include 'a', 'b'\n")],
    ['a variable that the check does not use', 'make test', change('Makefile', MAKE, `DOCS = a b\n${MAKE}`)],
    ['a source in settings', 'npx vitest run', change('src/b.ts', 'x', 'y')],
    ['an argument of a program', 'ci/run.sh', change('src/a.c', 'x', 'y')],
    ['a vendored module with its version', 'npm test', change('vendor/x/assert.go', 'x', 'y')],
    ['a module', 'go test ./...', change('go.mod', 'module a\n', 'module a\nrequire x v1.0.0\n')],
    [
      'a newer runner',
      'npm test',
      change(
        'package.json',
        MANIFEST,
        manifest(JSON.parse(MANIFEST).scripts, { devDependencies: { vitest: '^5.0.0' } }),
      ),
    ],
    ['metadata', 'pytest -q', change('pyproject.toml', '[project]\nname = "a"\n', '[project]\nname = "b"\n')],
  ]
  for (const [name, line, one] of cases) it(name, () => expect(refusedBy(line, one)).toEqual([]))
})

describe('path patterns', () => {
  it('a change to a protected path is refused, and an allowed path is accepted', () => {
    const changes = [change('docs/a.md', 'a', 'b'), change('src/deep/b.c', null, 'x'), change('a.test.ts', JS, null)]
    const guard = { check: null, protect: ['docs', 'src/**/*.c'], allow: ['*.test.ts'] }
    expect(detectTampering(changes, guard, () => null)).toEqual({
      refused: ['docs/a.md: is protected and was changed', 'src/deep/b.c: is protected and was changed'],
      allowed: ['a.test.ts: was deleted with 2 tests (“adds”, “subtracts”)'],
      changedTests: [],
      extendedTests: [],
    })
  })

  it('the report names changed existing tests with the numbers of lines, and excuses those in an allowed path', () => {
    const weaker = { after: JS.replace('toBe(3)', 'toBeTruthy()'), added: 1, removed: 1 }
    const longer = { after: `${JS}it('is new', () => expect(1 + 1).toBe(2))\n`, added: 1, removed: 0 }
    const changes = [
      { path: 'a.test.ts', before: JS, ...weaker },
      { path: 'b.test.ts', before: JS, ...longer },
      { path: 'old/c.test.ts', before: JS, ...weaker },
    ]
    const guard = { check: null, protect: [], allow: ['old/**'] }
    expect(detectTampering(changes, guard, () => null)).toEqual({
      refused: [],
      allowed: ['changed existing tests: old/c.test.ts (+1 -1)'],
      changedTests: ['a.test.ts (+1 -1)'],
      extendedTests: ['b.test.ts (+1 -0)'],
    })
  })
})
