import { readsAsBefore } from '../../../testkit/agents/golden.ts'
import { read } from './read.ts'

readsAsBefore('gemini', read)
