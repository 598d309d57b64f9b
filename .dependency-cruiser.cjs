// The walls between the rooms. Each room lists where its imports may come from; anything else is an error.
const ROOMS = {
  lib: [],
  core: ['lib'],
  ports: ['lib', 'core'],
  engine: ['lib', 'core', 'ports'],
  'world/os': ['lib', 'core', 'ports'],
  'world/store': ['lib', 'core', 'ports', 'world/os'],
  'world/tmux': ['lib', 'core', 'ports', 'world/os'],
  'world/agents': ['lib', 'core', 'ports', 'world/os'],
  'world/git': ['lib', 'core', 'ports', 'world/os'],
  'world/notify': ['lib', 'core', 'ports', 'world/os'],
  'world/project': ['lib', 'core', 'ports', 'world/os'],
  'world/beads': ['lib', 'core', 'ports', 'world/os'],
  'world/tasks': ['lib', 'core', 'ports', 'world/os', 'world/beads'],
  'world/checks': ['lib', 'core', 'ports', 'world/os'],
  api: ['lib', 'core'],
  views: ['lib', 'core', 'ports', 'api', 'world/os', 'world/store', 'world/git'],
  daemon: ['lib', 'core', 'ports', 'engine', 'world', 'api', 'views'],
  demo: ['lib', 'api', 'views', 'world/os'],
  cli: ['lib', 'api', 'views', 'world/os', 'world/checks'],
  loop: ['lib', 'core', 'ports', 'api', 'views', 'world'],
}

const walls = Object.entries(ROOMS).map(([room, neighbours]) => ({
  name: `wall-of-${room.replace('/', '-')}`,
  comment: `${room} may import from ${neighbours.join(', ') || 'nowhere'}`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^(src|test|bench)/', pathNot: [room, ...neighbours].map(name => `^src/${name}/`) },
}))

module.exports = {
  forbidden: [
    ...walls,
    {
      name: 'nobody-imports-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '(^src/testkit/|\\.test\\.ts$)' },
      to: { path: '(^test/|^src/testkit/|\\.test\\.ts$)' },
    },
    {
      name: 'core-is-pure',
      comment: 'core has no clock, no dice, no disk: it imports nothing from outside',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^node_modules/.*' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
