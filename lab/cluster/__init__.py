"""The life of the Kubernetes objects: scheduler, kubelets, controllers, evictions."""
