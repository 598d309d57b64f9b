import { sweep, SWEPT } from './sweep.ts'

sweep(SWEPT.conversations)
