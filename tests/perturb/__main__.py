from tests.perturb.run import main

raise SystemExit(main())
