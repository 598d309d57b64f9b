/** The one program: a command line, and under names of its own the supervisor, the demo agent and the loops. */
async function main([first, ...rest]: readonly string[]): Promise<void> {
  if (first === '__daemon') {
    const { daemon } = await import('./daemon/daemon.ts')
    return daemon()
  }
  if (first === '__demo-agent') {
    const { demoAgent } = await import('./world/agents/demo/program.ts')
    return demoAgent(rest)
  }
  if (first === '__loop') {
    const { loopProgram } = await import('./loop/program.ts')
    return loopProgram(rest)
  }
  const { cli } = await import('./cli/cli.ts')
  return cli(process.argv.slice(2), {
    runDirect: async request => (await import('./daemon/direct.ts')).runDirect(request),
    scout: async wish => (await import('./loop/scout.ts')).scout(wish),
    landLoop: async (home, id) => (await import('./loop/land-program.ts')).landLoop(home, id),
    demo: async options => (await import('./demo/demo.ts')).demo(options),
  })
}

void main(process.argv.slice(2))
