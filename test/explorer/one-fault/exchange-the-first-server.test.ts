import { withOneFault } from '../with-one-fault.ts'

withOneFault('exchange the first server')
