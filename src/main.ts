/** The one program: a command line, and under names of its own the supervisor and the demo agent. */
const [, , first, ...rest] = process.argv

switch (first) {
  case '__daemon': {
    const [{ daemon }, { VERSION }] = await Promise.all([import('./daemon/daemon.ts'), import('./cli/version.ts')])
    await daemon(VERSION)
    break
  }
  case '__demo-agent': {
    const { demoAgent } = await import('./world/agents/demo/program.ts')
    await demoAgent(rest)
    break
  }
  default: {
    const { cli } = await import('./cli/cli.ts')
    await cli(process.argv.slice(2), {
      runDirect: async request => (await import('./daemon/direct.ts')).runDirect(request),
      demo: async options => (await import('./demo/demo.ts')).demo(options),
    })
  }
}
