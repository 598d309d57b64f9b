// The walls between the rooms. Each room lists where its imports may come from; anything else is an error.
const ROOMS = {
  lib: [],
  core: ['lib'],
  ports: ['lib', 'core'],
  engine: ['lib', 'core', 'ports'],
  os: ['lib', 'core', 'ports'],
  state: ['lib', 'core', 'ports', 'os'],
  'world/store': ['lib', 'core', 'ports', 'os', 'state'],
  'world/runtime': ['lib', 'core', 'ports', 'os', 'state'],
  'world/agents': ['lib', 'core', 'ports', 'os'],
  'world/git': ['lib', 'core', 'ports', 'os', 'state'],
  'world/notify': ['lib', 'core', 'ports', 'os', 'state'],
  'world/project-files': ['lib', 'os', 'state'],
  'world/tracker': ['lib', 'core', 'ports', 'os', 'state'],
  'world/task-list': ['lib', 'core', 'ports', 'os', 'world/tracker'],
  'world/checks': ['lib', 'core', 'ports', 'os'],
  'world/boot': ['lib', 'os', 'state'],
  api: ['lib', 'core'],
  views: ['lib', 'core', 'ports', 'api', 'os', 'state', 'world/store', 'world/git'],
  daemon: ['lib', 'core', 'ports', 'engine', 'os', 'state', 'world', 'api', 'views'],
  demo: ['lib', 'api', 'os', 'state'],
  cli: ['lib', 'api', 'views', 'os', 'state', 'world/boot', 'world/checks'],
  loop: ['lib', 'core', 'ports', 'api', 'views', 'os', 'state', 'world'],
}

const walls = Object.entries(ROOMS).map(([room, neighbours]) => ({
  name: `wall-of-${room.replace('/', '-')}`,
  comment: `${room} may import from ${neighbours.join(', ') || 'nowhere'}`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^(src|test|bench|testkit)/', pathNot: [room, ...neighbours].map(name => `^src/${name}/`) },
}))

module.exports = {
  forbidden: [
    ...walls,
    {
      name: 'nobody-imports-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.test\\.ts$' },
      to: { path: '(^test/|^testkit/|\\.test\\.ts$)' },
    },
    {
      name: 'core-is-pure',
      comment: 'core has no clock, no dice, no disk: it imports nothing from outside',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev'] },
    },
    {
      name: 'views-save-no-checkpoints',
      comment: 'views read checkpoints through reader.ts, whose types have no function that saves or restores',
      severity: 'error',
      from: { path: '^src/views/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/world/git/checkpoint/', pathNot: '/checkpoint/reader\\.ts$' },
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
