import { withOneFault } from '../with-one-fault.ts'

withOneFault('a label leaves')
