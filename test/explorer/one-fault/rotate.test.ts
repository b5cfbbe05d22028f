import { withOneFault } from '../with-one-fault.ts'

withOneFault('rotate')
