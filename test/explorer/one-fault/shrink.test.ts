import { withOneFault } from '../with-one-fault.ts'

withOneFault('shrink')
